// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor copies and matrix multiplication through whole kernels.

#include "core_kernel.h"

#include "units/float_format.h"
#include "units/tensor_map.h"

using namespace attn::sim;

namespace {

/// Copies one box of a 16-bit tensor in and out through shared memory.
struct CopyKernel {
  std::vector<uint16_t> in = std::vector<uint16_t>(100 * 64);
  std::vector<uint16_t> out = std::vector<uint16_t>(100 * 64, 0xeeee);
  std::string wait = "loop:\nmbarrier.try_wait.parity.shared.b64 %p1, "
                     "[bar], 0;\n@!%p1 bra loop;\n";
  std::string bytes = "4096";
  std::string failure;

  void run(uint64_t seed) {
    std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n"
        ".visible .entry k(.param .align 64 .b8 in[128], "
        ".param .align 64 .b8 out[128])\n{\n.reg .pred %p<4>;\n"
        ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
        "mov.b64 %rd1, in;\ncvta.param.u64 %rd1, %rd1;\n"
        "mov.b64 %rd2, out;\ncvta.param.u64 %rd2, %rd2;\n"
        "mbarrier.init.shared.b64 [bar], 1;\n"
        "fence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], " +
        bytes +
        ";\ncp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [tile], [%rd1, {0, 80}], [bar];\n" +
        wait +
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
        "[%rd2, {0, 80}], [tile];\ncp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;\nret;\n}\n";
    auto module = std::make_shared<ptx::Module>();
    Diagnostic diagnostic;
    Program program;
    ASSERT_TRUE(ptx::parse(text, *module, diagnostic)) << diagnostic.text();
    ASSERT_TRUE(decode(module, "k", program, diagnostic)) << diagnostic.text();
    GlobalMemory memory;
    memory.add(in.data(), in.size() * 2, "in");
    memory.add(out.data(), out.size() * 2, "out");
    GridLaunch launch;
    launch.params.resize(256);
    encode(in.data(), launch.params.data());
    encode(out.data(), launch.params.data() + 128);
    SimOptions options;
    options.seed = seed;
    failure = runGrid(program, launch, memory, options).failure;
  }

  static void encode(const uint16_t *data, uint8_t *bytes) {
    TensorMap map;
    map.type = TensorType::BF16;
    map.rank = 2;
    map.globalAddress = reinterpret_cast<uintptr_t>(data);
    map.globalDim[0] = 64;
    map.globalDim[1] = 100;
    map.globalStrides[0] = 128;
    map.boxDim[0] = 64;
    map.boxDim[1] = 32;
    map.swizzle = Swizzle::B128;
    ASSERT_EQ(encodeTensorMap(map, bytes), "");
  }
};

/// D = A * B for m64n8k16 of bf16 ones in shared memory without swizzle.
std::string multiplyKernel(const std::string &between) {
  return "shl.b32 %r2, %r0, 4;\nmov.b32 %r3, smem;\nadd.s32 %r2, %r2, %r3;\n"
         "mov.b32 %r4, 0x3f803f80;\nst.shared.v4.b32 [%r2], {%r4, %r4, %r4, "
         "%r4};\nst.shared.v4.b32 [%r2+2048], {%r4, %r4, %r4, %r4};\n"
         "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
         // start | LBO 128 bytes | SBO 256 bytes
         "shr.u32 %r5, %r3, 4;\nor.b32 %r5, %r5, 0x80000;\n"
         "mov.b64 %rd2, {%r5, 16};\nadd.s32 %r6, %r5, 128;\n"
         "mov.b64 %rd3, {%r6, 16};\nmov.b32 %r10, 0;\nmov.b32 %r11, 0;\n"
         "mov.b32 %r12, 0;\nmov.b32 %r13, 0;\n"
         "setp.ne.b32 %p1, 0, 0;\nwgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
         "{%r10, %r11, %r12, %r13}, %rd2, %rd3, %p1, 1, 1, 0, 0;\n"
         "setp.eq.b32 %p1, 0, 0;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
         "{%r10, %r11, %r12, %r13}, %rd2, %rd3, %p1, 1, 1, 0, 0;\n"
         "wgmma.commit_group.sync.aligned;\n" +
         between + "\nst.global.b32 [%rd1], %r12;";
}

} // namespace

TEST(SimTensor, copiesABoxThatPassesTheEdge) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    CopyKernel kernel;
    for (size_t i = 0; i < kernel.in.size(); ++i) {
      kernel.in[i] = uint16_t(i * 7 + 1);
    }
    kernel.run(seed);
    ASSERT_EQ(kernel.failure, "");
    for (size_t i = 0; i < kernel.in.size(); ++i) {
      EXPECT_EQ(kernel.out[i], i < 80 * 64 ? 0xeeee : kernel.in[i]);
    }
  }
}

TEST(SimTensor, wrongByteCountsDeadlock) {
  CopyKernel kernel;
  kernel.bytes = "4112";
  kernel.run(/*seed=*/0);
  EXPECT_NE(kernel.failure.find("0 of 1 arrivals and 16 bytes pending"),
            std::string::npos)
      << kernel.failure;
}

TEST(SimTensor, multipliesAfterTheWait) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Kernel kernel = runKernel(
        multiplyKernel("wgmma.wait_group.sync.aligned 0;"), 128, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < 128; ++i) {
      EXPECT_EQ(f32FromBits(kernel.words[i]), 32.0f);
    }
  }
}

TEST(SimTensor, addsAsHardwareOrExactly) {
  auto run = [](const std::string &body, unsigned threads,
                WgmmaArithmetic sums) {
    Kernel kernel;
    kernel.body = body;
    kernel.threads = threads;
    kernel.sums = sums;
    EXPECT_EQ(kernel.run(), "");
    return f32FromBits(kernel.words[5]);
  };
  auto replace = [](std::string text, const std::string &from,
                    const std::string &to) {
    return text.replace(text.find(from), from.size(), to);
  };
  // 2^27 + 2 * 16, or + 16: ones are less than hardware keeps.
  std::string wgmma = multiplyKernel("wgmma.wait_group.sync.aligned 0;");
  wgmma = replace(wgmma, "%r12, 0;", "%r12, 0x4d000000;");
  wgmma = replace(wgmma, "setp.ne.b32", "setp.eq.b32");
  EXPECT_EQ(run(wgmma, 128, WgmmaArithmetic::Hardware), 0x1p27f);
  EXPECT_EQ(run(wgmma, 128, WgmmaArithmetic::Exact), 0x1p27f + 32);
  const std::string mma =
      "mov.b32 %r2, 0x3f803f80;\nmov.b32 %r3, 0x4d000000;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%r4, %r5, %r6, %r7}, {%r2, %r2, %r2, %r2}, {%r2, %r2}, "
      "{%r3, %r3, %r3, %r3};\nst.global.b32 [%rd1], %r7;";
  EXPECT_EQ(run(mma, 32, WgmmaArithmetic::Hardware), 0x1p27f);
  EXPECT_EQ(run(mma, 32, WgmmaArithmetic::Exact), 0x1p27f + 16);
}

TEST(SimTensor, accumulatorsInFlightArePoison) {
  Kernel kernel;
  kernel.body = multiplyKernel("");
  kernel.threads = 128;
  kernel.hazards = HazardMode::Off;
  kernel.run();
  ASSERT_EQ(kernel.failure, "");
  float value = f32FromBits(kernel.words[5]);
  EXPECT_TRUE(value != value);
}

TEST(SimTensor, aMissingWarpDeadlocks) {
  std::string text = multiplyKernel("wgmma.wait_group.sync.aligned 0;");
  text.insert(text.find("wgmma.fence"),
              "setp.ge.u32 %p2, %r0, 96;\n@%p2 bra end;\n");
  std::string failure = runKernel(text + "\nend:\n", 128).failure;
  EXPECT_NE(failure.find("waits for wgmma"), std::string::npos) << failure;
  EXPECT_NE(failure.find("issued by 0x7"), std::string::npos) << failure;
}

TEST(SimTensor, reportsAMissingFence) {
  std::string text = multiplyKernel("wgmma.wait_group.sync.aligned 0;");
  std::string fence = "wgmma.fence.sync.aligned;\n";
  text.erase(text.find(fence), fence.size());
  std::string failure = runKernel(text, 128).failure;
  EXPECT_NE(failure.find("before the first wgmma"), std::string::npos)
      << failure;
  text.insert(text.find("mov.b32 %r12, 0;"), fence);
  failure = runKernel(text, 128).failure;
  EXPECT_NE(failure.find("'%r12' was used after the last wgmma.fence"),
            std::string::npos)
      << failure;
}
