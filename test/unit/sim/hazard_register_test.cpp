// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register hazards that the litmus kernels cannot show: which instructions are
// watched, and the values of copies in flight.

#include "core_kernel.h"

#include "units/bits.h"

using namespace attn::sim;

static Program decodeBody(const std::string &body) {
  Kernel kernel;
  kernel.body = body;
  auto module = std::make_shared<ptx::Module>();
  Diagnostic diagnostic;
  Program program;
  EXPECT_TRUE(ptx::parse(kernel.text(), *module, diagnostic) &&
              decode(module, "kernel", program, diagnostic))
      << diagnostic.text();
  return program;
}

static size_t countWatches(const std::string &body) {
  return decodeBody(body).registers.watches.size();
}

TEST(SimRegisters, nothingIsWatchedWhereAllPathsWrite) {
  EXPECT_EQ(countWatches("setp.eq.b32 %p1, %r0, 0;\n@%p1 bra a;\n"
                         "mov.b32 %r1, 1;\nbra b;\na:\nmov.b32 %r1, 2;\nb:\n"
                         "add.s32 %r2, %r1, 1;"),
            0u);
  EXPECT_EQ(countWatches("mov.b32 %r1, 0;\nloop:\nadd.s32 %r2, %r1, 1;\n"
                         "mov.b32 %r1, %r2;\nsetp.lt.u32 %p1, %r1, 9;\n"
                         "@%p1 bra loop;"),
            0u);
}

TEST(SimRegisters, aWriteThatMayNotHappenIsWatched) {
  // The mov, and the read.
  EXPECT_EQ(countWatches("setp.eq.b32 %p1, %r0, 0;\n@%p1 mov.b32 %r1, 1;\n"
                         "add.s32 %r2, %r1, 1;"),
            2u);
  // The first pass of the loop reads %r1 unwritten.
  EXPECT_EQ(countWatches("loop:\nadd.s32 %r2, %r1, 1;\nmov.b32 %r1, %r2;\n"
                         "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra loop;"),
            2u);
}

TEST(SimRegisters, copiesOfWhatIsUnwrittenAreNoUse) {
  EXPECT_EQ(runKernel("mov.b32 %r2, %r1;\nmov.b64 %rd2, {%r2, %r0};").failure,
            "");
  std::string failure =
      runKernel("mov.b32 %r2, %r1;\nadd.s32 %r3, %r2, 1;").failure;
  EXPECT_NE(failure.find("'%r2' is read before it is written"),
            std::string::npos)
      << failure;
}

/// Two products of ones, 16 and 32, whose registers trade places in flight.
TEST(SimRegisters, valuesArriveInCopiesOfAccumulators) {
  const std::string multiply =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 ";
  Kernel kernel;
  kernel.threads = 128;
  kernel.body =
      "shl.b32 %r2, %r0, 4;\nmov.b32 %r3, smem;\nadd.s32 %r2, %r2, %r3;\n"
      "mov.b32 %r4, 0x3f803f80;\n"
      "st.shared.v4.b32 [%r2], {%r4, %r4, %r4, %r4};\n"
      "st.shared.v4.b32 [%r2+2048], {%r4, %r4, %r4, %r4};\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "shr.u32 %r5, %r3, 4;\nor.b32 %r5, %r5, 0x80000;\n"
      "mov.b64 %rd2, {%r5, 16};\nadd.s32 %r6, %r5, 128;\n"
      "mov.b64 %rd3, {%r6, 16};\nsetp.ne.b32 %p1, 0, 0;\n"
      "setp.eq.b32 %p2, 0, 0;\nwgmma.fence.sync.aligned;\n" +
      multiply + "{%r10, %r11, %r12, %r13}, %rd2, %rd3, %p1, 1, 1, 0, 0;\n" +
      multiply + "{%r14, %r15, %r16, %r17}, %rd2, %rd3, %p1, 1, 1, 0, 0;\n" +
      multiply + "{%r14, %r15, %r16, %r17}, %rd2, %rd3, %p2, 1, 1, 0, 0;\n" +
      "wgmma.commit_group.sync.aligned;\nmov.b32 %r20, %r10;\n"
      "mov.b32 %r10, %r14;\nmov.b32 %r14, %r20;\n"
      "wgmma.wait_group.sync.aligned 0;\nst.global.b32 [%rd1], %r10;\n"
      "st.global.b32 [%rd1+512], %r14;\n";
  for (kernel.seed = 0; kernel.seed < 8; ++kernel.seed) {
    ASSERT_EQ(kernel.run(), "");
    EXPECT_EQ(kernel.reports.get().size(), 3u); // the copies
    for (unsigned i = 0; i < 128; ++i) {
      ASSERT_EQ(f32FromBits(kernel.words[i]), 32.0f) << kernel.seed;
      ASSERT_EQ(f32FromBits(kernel.words[128 + i]), 16.0f) << kernel.seed;
    }
  }
}
