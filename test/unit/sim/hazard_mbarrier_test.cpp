// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers: visibility, phases and misuse.

#include "hazard_kernel.h"

using namespace attn::sim;

static const std::string kSetUp = kAddresses;
static const std::string kBegin = kSetUp + kInit;
static const std::string kArrive =
    "@%p0 mbarrier.arrive.shared.b64 %rd2, [smem];\n";
static const std::string kWriteOwn = "st.shared.b32 [%r2], %r0;\n";

TEST(SimHazardMbarrier, initsAreMadeVisible) {
  // Thread 32 uses the mbarrier that thread 0 made.
  std::string init = kSetUp + "@%p0 mbarrier.init.shared.b64 [smem], 1;\n"
                              "setp.eq.u32 %p2, %r0, 32;\n";
  std::string wait = waitFor("live", "1", "%p2");
  // In a schedule that runs warp 1 first, the mbarrier does not exist yet.
  std::string spin = "mov.b32 %r9, 100;\nspin:\nsub.s32 %r9, %r9, 1;\n"
                     "setp.ne.b32 %p8, %r9, 0;\n@%p8 bra spin;\n";
  Kernel kernel =
      hazardKernel(init + "@%p1 bra go;\n" + spin + "go:\n" + wait, 64);
  kernel.run();
  EXPECT_EQ(idOf(kernel.failure), "mbarrier.init-not-visible");
  expectSilence(hazardKernel(init + kSync + wait, 64));
}

TEST(SimHazardMbarrier, copiesWantTheInitFenced) {
  std::string init = kSetUp + "@%p0 mbarrier.init.shared.b64 [smem], 1;\n";
  std::string use = std::string(kLoad) + waitFor("wait");
  expectPair("mbarrier.init-not-visible", init + kSync + use,
             init + "fence.proxy.async;\n" + kSync + use, 64);
  expectSilence(hazardKernel(
      init + "fence.mbarrier_init.release.cluster;\n" + kSync + use, 64));
  // The fence of another thread orders its own inits only.
  expectRule("mbarrier.init-not-visible",
             hazardKernel(init +
                              "@!%p1 fence.mbarrier_init.release.cluster;\n" +
                              kSync + use,
                          64));
}

TEST(SimHazardMbarrier, arrivalsReleaseAndWaitsAcquire) {
  // Warp 0 writes and thread 0 arrives, warp 1 waits and reads.
  std::string write =
      kBegin + "@!%p1 bra reader;\n" + kWriteOwn + "bar.warp.sync -1;\n";
  std::string read = "bra end;\nreader:\n" + waitFor("wait") +
                     "ld.shared.b32 %r4, [%r3];\nend:\n";
  expectSilence(hazardKernel(write + kArrive + read, 64));
  expectRule("race.shared",
             hazardKernel(write +
                              "@%p0 mbarrier.arrive.relaxed.cta.shared.b64 "
                              "%rd2, [smem];\n" +
                              read,
                          64));
  // Lanes of whose writes the arriving one does not know.
  std::string without = write;
  without.erase(without.find("bar.warp.sync -1;\n"), 18);
  expectRule("race.shared", hazardKernel(without + kArrive + read, 64));
}

TEST(SimHazardMbarrier, laterWritesAreNotReleased) {
  std::string early = kBegin + "@!%p1 bra reader;\n" + kArrive + kWriteOwn;
  std::string read = "bra end;\nreader:\n" + waitFor("wait") +
                     "ld.shared.b32 %r4, [%r3];\nend:\n";
  Kernel kernel = hazardKernel(early + read, 64);
  kernel.run();
  EXPECT_EQ(idOf(kernel.failure), "race.shared");
}

TEST(SimHazardMbarrier, bytesAreExpectedInTime) {
  std::string copy =
      "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[smem+64], [%rd0], 256, [smem];\n";
  Kernel kernel = hazardKernel(kBegin + copy + kArrive, 32);
  kernel.run();
  EXPECT_EQ(idOf(kernel.failure), "mbarrier.early-completion");
  expectSilence(hazardKernel(
      kBegin + copy +
          "@%p0 mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 256;\n" +
          waitFor("wait"),
      32));
}

TEST(SimHazardMbarrier, parityNamesTheNextPhase) {
  std::string twice = kBegin + kArrive + kArrive + kSync + waitFor("wait");
  expectRule("mbarrier.parity-alias", hazardKernel(twice, 64));
  expectSilence(hazardKernel(kBegin + kArrive + kSync + waitFor("wait"), 64));
}

TEST(SimHazardMbarrier, phasesAreAwaited) {
  expectPair("mbarrier.phase-not-awaited", kBegin + kArrive + kArrive,
             kBegin + kArrive + waitFor("wait", "0", "%p0") + kArrive, 32);
}

TEST(SimHazardMbarrier, onlyMbarrierOperationsTouchLiveOnes) {
  expectPair("mbarrier.generic-access",
             kBegin + "ld.shared.b32 %r4, [smem+4];\n",
             kBegin + "@%p0 mbarrier.inval.shared.b64 [smem];\n"
                      "@%p0 st.shared.b32 [smem+4], 1;\n"
                      "@%p0 ld.shared.b32 %r4, [smem+4];\n",
             32);
  expectRule("mbarrier.generic-access",
             hazardKernel(kBegin + "@%p0 st.shared.b8 [smem+7], 0;\n", 32));
}

TEST(SimHazardMbarrier, invalComesAfterAllUses) {
  std::string uses = kBegin + kArrive + waitFor("wait");
  std::string inval = "@%p0 mbarrier.inval.shared.b64 [smem];\n";
  // Late enough that warp 1 has waited.
  std::string spin = "mov.b32 %r9, 3000;\nspin:\nsub.s32 %r9, %r9, 1;\n"
                     "setp.ne.b32 %p8, %r9, 0;\n@%p8 bra spin;\n";
  Kernel kernel = hazardKernel(uses + spin + inval, 64);
  kernel.run();
  EXPECT_EQ(idOf(kernel.failure), "mbarrier.inval-in-use");
  expectSilence(hazardKernel(uses + kSync + inval, 64));
}

TEST(SimHazardMbarrier, memoryOfAnInvalidOneIsReusable) {
  std::string inval = "@%p0 mbarrier.inval.shared.b64 [smem];\n";
  std::string again = kBegin + kArrive + waitFor("first") + kSync + inval +
                      kInit + kLoad + waitFor("second") +
                      "ld.shared.b32 %r4, [%r2];\n";
  expectSilence(hazardKernel(again, 64));
}

TEST(SimHazardMbarrier, endsWithNoBytesOutstanding) {
  expectPair("exit.tx-outstanding",
             kBegin + "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [smem], "
                      "32;\n",
             kBegin, 32);
}

TEST(SimHazardMbarrier, namesFaults) {
  auto expectFault = [](const std::string &id, const std::string &body) {
    EXPECT_EQ(
        idOf(
            runKernel(kBegin + "@!%p0 bra end;\n" + body + "\nend:\n").failure),
        id)
        << body;
  };
  const std::string arrive = "mbarrier.arrive.shared.b64 %rd2, [smem]";
  expectFault("mbarrier.not-live",
              "mbarrier.arrive.shared.b64 %rd2, [smem+8];");
  expectFault("mbarrier.reinit", "mbarrier.init.shared.b64 [smem], 1;");
  expectFault("mbarrier.bad-count", "mbarrier.init.shared.b64 [smem+8], 0;");
  expectFault("mbarrier.over-arrival", arrive + ", 2;");
  expectFault("mbarrier.no-complete",
              "mbarrier.arrive.noComplete.shared.b64 %rd2, [smem], 1;");
  expectFault("mbarrier.tx-range",
              "mbarrier.expect_tx.relaxed.cta.shared.b64 [smem], 1048575;\n"
              "mbarrier.expect_tx.relaxed.cta.shared.b64 [smem], 1048575;");
  expectFault("mbarrier.bad-token",
              "mov.b64 %rd2, -1;\n"
              "mbarrier.test_wait.shared.b64 %p9, [smem], %rd2;");
  expectFault("mbarrier.bad-address", "mbarrier.init.shared.b64 [smem+4], 1;");
}
