// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers, waits and deadlocks.

#include "core_kernel.h"

using namespace attn::sim;

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(SimSync, barriersOrderWarps) {
  // Each thread writes its word and reads that of its mirror thread.
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel kernel = runKernel(
        "shl.b32 %r2, %r0, 2;\nmov.b32 %r3, smem;\nadd.s32 %r2, %r2, %r3;\n"
        "st.shared.b32 [%r2], %r0;\nbar.sync 0;\n"
        "sub.s32 %r4, 127, %r0;\nshl.b32 %r4, %r4, 2;\n"
        "add.s32 %r4, %r4, %r3;\nld.shared.b32 %r1, [%r4];\n"
        "st.global.b32 [%rd1], %r1;",
        128, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < 128; ++i) {
      EXPECT_EQ(kernel.words[i], 127 - i);
    }
  }
}

TEST(SimSync, lanesMeetAtABarrierFromTwoPlaces) {
  // Odd lanes wait at another instruction than even ones; each reads its
  // neighbor's word.
  const char *text =
      "shl.b32 %r2, %r0, 2;\nmov.b32 %r3, smem;\nadd.s32 %r2, %r2, %r3;\n"
      "st.shared.b32 [%r2], %r0;\nand.b32 %r4, %r0, 1;\n"
      "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra even;\nbarrier.sync 3;\nbra read;\n"
      "even:\nbarrier.sync 3, 64;\nread:\nxor.b32 %r2, %r2, 4;\n"
      "ld.shared.b32 %r1, [%r2];\nst.global.b32 [%rd1], %r1;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel kernel = runKernel(text, 64, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < 64; ++i) {
      EXPECT_EQ(kernel.words[i], i ^ 1);
    }
  }
}

TEST(SimSync, lanesWhoseGuardIsFalseGoOn) {
  // The lanes that continue wait at once, at another instruction.
  const char *text = "setp.lt.u32 %p1, %r0, 16;\n@%p1 barrier.sync 1;\n"
                     "@!%p1 barrier.sync 1;\nst.global.b32 [%rd1], %r0;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel kernel = runKernel(text, 64, seed);
    ASSERT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[63], 63u);
  }
  std::string failure =
      runKernel("setp.lt.u32 %p1, %r0, 16;\n@%p1 barrier.sync 1;\n", 32)
          .failure;
  EXPECT_EQ(failure, "") << "lanes that exit are not waited for";
}

TEST(SimSync, lanesThatDoNotMeetDeadlock) {
  std::string failure =
      runKernel("setp.lt.u32 %p1, %r0, 16;\n@%p1 barrier.sync 1;\n"
                "@!%p1 barrier.sync 2;\n",
                32)
          .failure;
  EXPECT_TRUE(contains(failure, "deadlock")) << failure;
}

TEST(SimSync, arrivalsCountTowardABarrier) {
  std::string text = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra first;\n"
                     "bar.arrive 1, 64;\nbra end;\nfirst:\nbar.sync 1, 64;\n"
                     "end:\n";
  EXPECT_EQ(runKernel(text, 64).failure, "");
  std::string failure = runKernel(text, 32).failure;
  EXPECT_NE(failure, "");
}

TEST(SimSync, reportsDeadlocks) {
  std::string failure =
      runKernel("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra end;\nbar.sync 2, 64;\n"
                "end:\n",
                64)
          .failure;
  EXPECT_TRUE(contains(failure, "deadlock")) << failure;
  EXPECT_TRUE(contains(failure, "PTX line 17")) << failure;
  EXPECT_TRUE(contains(failure, "barrier 2: 32 of 64 threads")) << failure;
}

TEST(SimSync, reportsBarrierCountsThatDiffer) {
  std::string failure = runKernel("setp.lt.u32 %p1, %r0, 32;\n"
                                  "@%p1 bra other;\nbar.sync 1, 64;\nret;\n"
                                  "other:\nbar.sync 1, 96;\n",
                                  96)
                            .failure;
  EXPECT_TRUE(contains(failure, "as the first to arrive")) << failure;
}

TEST(SimSync, reportsLanesThatNeverCome) {
  std::string failure =
      runKernel("setp.lt.u32 %p1, %r0, 3;\n@%p1 bra one;\nbar.sync 1;\nbra "
                "end;\none:\nbar.sync 2;\nend:\n")
          .failure;
  EXPECT_TRUE(contains(failure, "waits for the warp's other lanes")) << failure;
}

/// A producer warp hands numbers to a consumer through one slot.
static std::string handOver(const char *arrive, int rounds) {
  return "setp.ne.b32 %p1, %r0, 0;\n@%p1 bra ready;\n"
         "mbarrier.init.shared.b64 [smem], 1;\n"
         "mbarrier.init.shared.b64 [smem+8], 1;\nready:\nbar.sync 0;\n"
         "mov.b32 %r2, 0;\nmov.b32 %r5, 0;\nand.b32 %r6, %r0, 31;\n"
         "setp.ne.b32 %p2, %r6, 0;\n@%p2 bra end;\n"
         "setp.ge.u32 %p3, %r0, 32;\n@%p3 bra consumer;\n"
         "produce:\nxor.b32 %r3, %r2, 1;\n"
         "w1:\nmbarrier.try_wait.parity.shared.b64 %p4, [smem+8], %r3;\n"
         "@!%p4 bra w1;\nst.shared.b32 [smem+16], %r5;\n"
         "mbarrier.arrive.shared.b64 %rd2, [smem];\nxor.b32 %r2, %r2, 1;\n"
         "add.s32 %r5, %r5, 1;\nsetp.lt.u32 %p5, %r5, " +
         std::to_string(rounds) +
         ";\n@%p5 bra produce;\nbra end;\n"
         "consumer:\nmov.b32 %r7, 0;\nconsume:\n"
         "w2:\nmbarrier.try_wait.parity.shared.b64 %p4, [smem], %r2;\n"
         "@!%p4 bra w2;\nld.shared.b32 %r4, [smem+16];\n"
         "add.s32 %r7, %r7, %r4;\n" +
         arrive +
         "\nxor.b32 %r2, %r2, 1;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.u32 %p5, %r5, " +
         std::to_string(rounds) +
         ";\n@%p5 bra consume;\nst.global.b32 [%rd0], %r7;\nend:\n";
}

TEST(SimSync, mbarriersHandOver) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Kernel kernel = runKernel(
        handOver("mbarrier.arrive.shared.b64 %rd2, [smem+8];", 11), 64, seed);
    EXPECT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[0], 55u);
  }
}

TEST(SimSync, reportsWhoWaitsAtAnMbarrier) {
  std::string failure = runKernel(handOver("", 11), 64).failure;
  EXPECT_TRUE(contains(failure, "deadlock")) << failure;
  EXPECT_TRUE(contains(failure, "mbarrier 0x408 for the phase of parity 0: in "
                                "phase 0, 1 of 1 arrivals and 0 bytes pending"))
      << failure;
}

TEST(SimSync, reportsMisuseOfMbarriers) {
  EXPECT_TRUE(
      contains(runKernel("mbarrier.arrive.shared.b64 %rd2, [smem];").failure,
               "mbarrier"));
  EXPECT_TRUE(
      contains(runKernel("mbarrier.init.shared.b64 [smem+4], 1;").failure,
               "no mbarrier can be"));
}

TEST(SimSync, registersMoveBetweenWarps) {
  std::string text = "setp.lt.u32 %p1, %r0, 128;\n@%p1 bra give;\n"
                     "setp.ge.u32 %p2, %r0, 256;\n@%p2 bra end;\n"
                     "setmaxnreg.inc.sync.aligned.u32 232;\nbra end;\ngive:\n"
                     "setmaxnreg.dec.sync.aligned.u32 24;\nend:\n";
  EXPECT_EQ(runKernel(text, 512).failure, "");
  std::string failure =
      runKernel("setmaxnreg.inc.sync.aligned.u32 256;", 512).failure;
  EXPECT_TRUE(contains(failure, "waits for registers")) << failure;
}
