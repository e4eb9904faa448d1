// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoding, arithmetic, memory and control flow of the simulator's core.

#include "core_kernel.h"

using namespace attn::sim;

static const char *const kStore = "\nst.global.b32 [%rd1], %r1;";

static uint32_t resultOf(const std::string &body) {
  Kernel kernel = runKernel(body + kStore);
  EXPECT_EQ(kernel.failure, "");
  return kernel.words[3];
}

TEST(SimCore, refusesWhatItDoesNotKnow) {
  EXPECT_EQ(runKernel("frobnicate.b32 %r1, %r2;").failure,
            "15:1: unknown opcode 'frobnicate'");
  EXPECT_EQ(runKernel("add.weird.s32 %r1, %r2, %r2;").failure,
            "15:1: unsupported form 'add.weird.s32'");
  EXPECT_EQ(runKernel("add.s32 %r1, %r2;").failure,
            "15:1: expected more than 2 operands");
  EXPECT_EQ(runKernel("add.s32 %r1, %r2, %rd2;").failure,
            "15:19: expected a register of another width than '%rd2'");
  EXPECT_EQ(runKernel("mov.b32 %r1, %unknown;").failure,
            "15:14: unknown name '%unknown'");
  EXPECT_EQ(runKernel("mov.b32 %r999, 1;").failure,
            "15:9: expected a register, got '%r999'");
  EXPECT_EQ(runKernel("bra nowhere;").failure, "15:5: no label 'nowhere'");
  EXPECT_EQ(runKernel("cp.async.bulk.prefetch.L2.global "
                      "[%rd1+4294967296], 16;")
                .failure,
            "15:34: expected an offset of 32 bits");
}

TEST(SimCore, computesIntegers) {
  EXPECT_EQ(resultOf("mov.b32 %r2, -7; div.s32 %r1, %r2, 2;"), uint32_t(-3));
  EXPECT_EQ(resultOf("mul.hi.u32 %r1, -1, -1;"), 0xfffffffe);
  EXPECT_EQ(resultOf("shr.s32 %r1, -16, 40;"), 0xffffffff);
  EXPECT_EQ(resultOf("shl.b32 %r1, 1, 32;"), 0u);
  EXPECT_EQ(resultOf("min.relu.s32 %r1, -5, 3;"), 0u);
  EXPECT_EQ(resultOf("bfe.u32 %r1, 0x12345678, 4, 14;"), 0x0567u);
  EXPECT_EQ(resultOf("lop3.b32 %r1, 12, 10, 6, 0x96;"), 0u);
  EXPECT_EQ(resultOf("prmt.b32 %r1, 0x33221100, 0x77665544, 0x7530;"),
            0x77553300u);
}

TEST(SimCore, computesFloats) {
  EXPECT_EQ(resultOf("add.rn.f32 %r1, 0f3F800000, 0f40000000;"), 0x40400000u);
  EXPECT_EQ(resultOf("fma.rn.ftz.f32 %r1, 0f40000000, 0f40400000, 0fBF800000;"),
            0x40a00000u);
  EXPECT_EQ(resultOf("mul.ftz.f32 %r1, 0f00000001, 0f3F800000;"), 0u);
  EXPECT_EQ(resultOf("mul.f32 %r1, 0f00000001, 0f3F800000;"), 1u);
  EXPECT_EQ(resultOf("max.ftz.f32 %r1, 0f7FC00000, 0f3F800000;"), 0x3f800000u);
  EXPECT_EQ(resultOf("max.f32 %r1, 0f80000000, 0f00000000;"), 0u);
  EXPECT_EQ(resultOf("sub.f32 %r1, 0f7F800000, 0f7F800000;"), 0x7fffffffu);
  EXPECT_EQ(resultOf("ex2.approx.ftz.f32 %r1, 0f40400000;"), 0x41000000u);
  EXPECT_EQ(resultOf("cvt.rn.bf16x2.f32 %r1, 0f40000000, 0f3F800000;"),
            0x40003f80u);
  EXPECT_EQ(resultOf("cvt.rn.f32.s32 %r1, -3;"), 0xc0400000u);
  EXPECT_EQ(resultOf("cvt.rzi.s32.f32 %r1, 0fC0600000;"), uint32_t(-3));
}

TEST(SimCore, packsAndUnpacks) {
  EXPECT_EQ(resultOf("mov.b64 %rd2, {5, 9}; mov.b64 {%r2, %r3}, %rd2;"
                     "sub.s32 %r1, %r3, %r2;"),
            4u);
  EXPECT_EQ(resultOf("mov.b32 %r2, 0x00070003; mov.b32 {%rs1, %rs2}, %r2;"
                     "mov.b32 %r1, {%rs2, %rs1};"),
            0x00030007u);
}

TEST(SimCore, readsClocks) {
  Kernel kernel;
  kernel.body = R"(
  mov.u32 %r1, %clock;
  mov.u64 %rd2, %clock64;
  mov.u64 %rd3, %globaltimer;
  mov.u32 %r2, %globaltimer_hi;
  cvt.u32.u64 %r3, %rd2;
  cvt.u32.u64 %r4, %rd3;
  st.global.v4.u32 [%rd0], {%r1, %r3, %r4, %r2};
  ret;)";
  kernel.threads = 1;
  EXPECT_EQ(kernel.run(), "");
  // Instructions executed so far; four come before the body.
  EXPECT_EQ(kernel.words[0], 5u);
  EXPECT_EQ(kernel.words[1], 6u);
  EXPECT_EQ(kernel.words[2], 7u);
  EXPECT_EQ(kernel.words[3], 0u);
  kernel.body = "mov.u64 %rd2, %clock;";
  EXPECT_NE(
      kernel.run().find("expected a move of 32 bits from '%clock', got 64"),
      std::string::npos);
}

TEST(SimCore, masksLanes) {
  Kernel kernel = runKernel("mov.b32 %r1, 1; setp.lt.u32 %p1, %r0, 5;\n"
                            "@%p1 mov.b32 %r1, 2;" +
                            std::string(kStore));
  ASSERT_EQ(kernel.failure, "");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(kernel.words[i], i < 5 ? 2u : 1u);
  }
}

TEST(SimCore, loopsDivergeAndMeetAgain) {
  // Each lane counts to its own number; then all take part in one shuffle.
  Kernel kernel = runKernel("mov.b32 %r1, 0;\nloop:\n"
                            "setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra done;\n"
                            "add.s32 %r1, %r1, 1;\nbra loop;\ndone:\n"
                            "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;" +
                            std::string(kStore));
  ASSERT_EQ(kernel.failure, "");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(kernel.words[i], i ^ 1);
  }
}

TEST(SimCore, scopesHideNames) {
  EXPECT_EQ(resultOf("mov.b32 %r1, 5;\n{ .reg .b32 %r1; mov.b32 %r1, 6;\n"
                     "again:\nsetp.ne.b32 %p1, 0, 0;\n@%p1 bra again;\n}\n"
                     "{ again:\n@%p1 bra again;\n}"),
            5u);
}

TEST(SimCore, branchesByTable) {
  Kernel kernel =
      runKernel("and.b32 %r2, %r0, 1;\ntargets: .branchtargets even, odd;\n"
                "brx.idx %r2, targets;\neven:\nmov.b32 %r1, 10;\nbra end;\n"
                "odd:\nmov.b32 %r1, 11;\nend:" +
                std::string(kStore));
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[6], 10u);
  EXPECT_EQ(kernel.words[7], 11u);
}

TEST(SimCore, votesAndElects) {
  EXPECT_EQ(resultOf("setp.lt.u32 %p1, %r0, 3;\n"
                     "vote.sync.ballot.b32 %r1, %p1, -1;"),
            7u);
  EXPECT_EQ(resultOf("elect.sync %r1|%p1, -1;\n@!%p1 mov.b32 %r1, 77;"), 77u);
}

TEST(SimCore, reportsAccessesOutOfBounds) {
  std::string failure = runKernel("st.global.b32 [%rd0+16384], %r0;").failure;
  EXPECT_NE(failure.find("PTX line 15, CTA (0,0,0), warp 0, lane 0"),
            std::string::npos);
  EXPECT_NE(failure.find("0 bytes past the end of 'out'"), std::string::npos)
      << failure;
  failure = runKernel("ld.shared.b32 %r1, [smem+4096];").failure;
  EXPECT_NE(failure.find("out of bounds"), std::string::npos);
  failure = runKernel("ld.shared.b64 %rd2, [smem+4];").failure;
  EXPECT_NE(failure.find("not a multiple of 8"), std::string::npos);
  failure = runKernel("mov.b64 %rd2, 0;\nst.b32 [%rd2], %r0;").failure;
  EXPECT_NE(failure.find("out of bounds"), std::string::npos);
}

TEST(SimCore, reportsDivergentUniformBranches) {
  EXPECT_NE(runKernel("setp.lt.u32 %p1, %r0, 3;\n@%p1 bra.uni end;\nend:\n")
                .failure.find("bra.uni"),
            std::string::npos);
}

TEST(SimCore, runsEveryCta) {
  Kernel kernel;
  kernel.grid = 20;
  kernel.body = "mov.b32 %r1, 1;\natom.global.add.u32 %r2, [%rd1], %r1;";
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.words[9], 20u);
}

/// On random schedules one host thread runs several CTAs side by side. On the
/// others a CTA that waits for a later one hangs, as on a machine with room for
/// one CTA.
TEST(SimCore, interleavesCtasOnRandomSchedules) {
  Kernel kernel;
  kernel.grid = 2;
  kernel.hostThreads = 1;
  kernel.budget = 100000;
  kernel.body = "setp.ne.u32 %p1, %r0, 0;\n"
                "@!%p1 atom.global.add.u32 %r2, [%rd0], 1;\n"
                "LOOP:\nld.relaxed.gpu.global.u32 %r2, [%rd0];\n"
                "setp.ne.u32 %p2, %r2, 2;\n@%p2 bra LOOP;";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel run = kernel;
    run.seed = seed;
    run.run();
    EXPECT_EQ(run.failure.find("livelock") != std::string::npos, seed < 2)
        << "seed " << seed << ": " << run.failure;
  }
}

TEST(SimCore, refusesImpossibleLaunches) {
  Kernel kernel;
  kernel.threads = 2048;
  EXPECT_NE(kernel.run(), "");
  kernel.threads = 32;
  kernel.dynamicShared = 1 << 20;
  EXPECT_NE(kernel.run().find("dynamic shared memory"), std::string::npos);
}

TEST(SimCore, stopsEndlessLoops) {
  EXPECT_NE(runKernel("again:\nbra again;").failure.find("livelock"),
            std::string::npos);
}

TEST(SimCore, stopsCtasThatWaitForOneThatFailed) {
  for (const char *failing : {"0", "1"}) {
    Kernel kernel;
    kernel.grid = 2;
    kernel.hostThreads = 2;
    kernel.budget = uint64_t(1) << 40;
    kernel.body = "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, " +
                  std::string(failing) +
                  ";\n@%p1 st.global.u32 [%rd1+1], %r0;\n"
                  "LOOP:\nld.relaxed.gpu.global.u32 %r2, [%rd0];\n"
                  "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra LOOP;";
    EXPECT_NE(kernel.run().find("[memory.align]"), std::string::npos)
        << kernel.failure;
  }
}
