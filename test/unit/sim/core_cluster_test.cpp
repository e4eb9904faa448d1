// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core_kernel.h"

using namespace attn::sim;

namespace {

const char *const kMeet = "barrier.cluster.arrive.release.aligned;\n"
                          "barrier.cluster.wait.acquire.aligned;\n";

/// %r1: the CTA's rank; %r2: the next one's; %r3: own shared memory; %r4: the
/// next one's; %r5: an mbarrier of one arrival; %r6: the next one's; %p1:
/// thread 0; %rd1: a word for each thread of the grid.
const std::string kStart =
    "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r7, %cluster_nctarank;\n"
    "add.u32 %r2, %r1, 1;\nrem.u32 %r2, %r2, %r7;\n"
    "mov.u32 %r3, smem;\nmapa.shared::cluster.u32 %r4, %r3, %r2;\n"
    "add.u32 %r5, %r3, 2048;\nadd.u32 %r6, %r4, 2048;\n"
    "setp.eq.u32 %p1, %r0, 0;\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "mov.u32 %r8, %ctaid.x;\nmov.u32 %r9, %ntid.x;\n"
    "mad.lo.u32 %r8, %r8, %r9, %r0;\nmul.wide.u32 %rd2, %r8, 4;\n"
    "add.s64 %rd1, %rd0, %rd2;\n"
    "mad.lo.u32 %r10, %r0, 4, %r3;\nmad.lo.u32 %r11, %r0, 4, %r4;\n";

const char *const kWait =
    "mov.u32 %r20, 0;\nW:\n"
    "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], %r20;\n"
    "@!%p2 bra W;\n";

/// Runs two clusters of `cluster` CTAs of 32 threads.
Kernel runClusters(const std::string &body, uint64_t seed,
                   unsigned cluster = 2) {
  Kernel kernel;
  kernel.body = kStart + body;
  kernel.seed = seed;
  kernel.cluster = cluster;
  kernel.grid = 2 * cluster;
  kernel.run();
  return kernel;
}

void expectFailure(const Kernel &kernel, const std::string &text) {
  EXPECT_NE(kernel.failure.find(text), std::string::npos) << kernel.failure;
}

TEST(Cluster, readsTheNeighboursSharedMemory) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Kernel kernel =
        runClusters("st.shared.b32 [%r10], %r8;\n" + std::string(kMeet) +
                        "ld.shared::cluster.b32 %r12, [%r11];\n"
                        "st.global.b32 [%rd1], %r12;\n" +
                        kMeet,
                    seed, 4);
    ASSERT_EQ(kernel.failure, "");
    for (uint32_t i = 0; i < 8 * 32; ++i) {
      uint32_t cta = i / 32;
      uint32_t next = cta / 4 * 4 + (cta + 1) % 4;
      EXPECT_EQ(kernel.words[i], next * 32 + i % 32);
    }
  }
}

TEST(Cluster, reportsATargetThatMayNotHaveStarted) {
  for (uint64_t seed : {0, 1}) {
    expectFailure(runClusters("st.shared::cluster.b32 [%r11], %r0;\n" +
                                  std::string(kMeet),
                              seed),
                  "may not have started");
  }
}

TEST(Cluster, reportsATargetThatMayHaveExited) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    expectFailure(runClusters("st.shared.b32 [%r10], %r8;\n" +
                                  std::string(kMeet) +
                                  "ld.shared::cluster.b32 %r12, [%r11];",
                              seed),
                  "[cluster.exited]");
  }
}

TEST(Cluster, reportsAnotherCtasAddressWithoutCluster) {
  expectFailure(
      runClusters(std::string(kMeet) + "ld.shared.b32 %r12, [%r11];" + kMeet,
                  0),
      "is not of this CTA, which has rank 1");
}

TEST(Cluster, reportsRanksThatAreNotThere) {
  expectFailure(runClusters("mapa.shared::cluster.u32 %r12, %r3, 2;", 0),
                "expected a CTA rank below 2, got 2");
}

TEST(Cluster, mapsGenericAddresses) {
  Kernel kernel = runClusters(
      "cvt.u64.u32 %rd3, %r10;\ncvta.shared.u64 %rd3, %rd3;\n"
      "mapa.u64 %rd4, %rd3, %r2;\ngetctarank.u64 %r12, %rd4;\n" +
          std::string(kMeet) + "st.b32 [%rd4], %r12;\n" + kMeet +
          "ld.shared.b32 %r13, [%r10];\nst.global.b32 [%rd1], %r13;\n",
      0);
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[0], 0u);
  EXPECT_EQ(kernel.words[32], 1u);
}

TEST(Cluster, arrivesRemotelyAndStoresAsynchronously) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel kernel = runClusters(
        std::string(kMeet) +
            "@%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster"
            ".b64 _, [%r6], 256;\n"
            "add.u32 %r13, %r11, 0;\nmad.lo.u32 %r13, %r0, 4, %r13;\n"
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 "
            "[%r13], {%r8, %r1}, [%r6];\n" +
            kWait +
            "mad.lo.u32 %r14, %r0, 8, %r3;\n"
            "ld.shared.v2.b32 {%r15, %r16}, [%r14];\n"
            "mad.lo.u32 %r15, %r16, 1000, %r15;\n"
            "st.global.b32 [%rd1], %r15;\n" +
            kMeet,
        seed);
    ASSERT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[5], 1000u + 32 + 5);
    EXPECT_EQ(kernel.words[32 + 5], 5u);
  }
}

TEST(Cluster, multicastsABulkCopy) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel kernel = runClusters(
        "add.u32 %r12, %r8, 7;\nst.global.b32 [%rd1], %r12;\n"
        "fence.proxy.async.global;\n"
        "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 128;\n" +
            std::string(kMeet) +
            "setp.eq.and.u32 %p3, %r1, 1, %p1;\nmov.b16 %rs1, 3;\n"
            "@%p3 cp.async.bulk.shared::cluster.global"
            ".mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%rd1], "
            "128, [%r5], %rs1;\n" +
            kWait + "ld.shared.b32 %r13, [%r10];\n" + kMeet +
            "st.global.b32 [%rd1], %r13;\n",
        seed);
    ASSERT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[3], 32u + 3 + 7);
    EXPECT_EQ(kernel.words[32 + 3], 32u + 3 + 7);
  }
}

TEST(Cluster, waitsOnlyForOwnBarriers) {
  expectFailure(runClusters(std::string(kMeet) +
                                "mov.u64 %rd5, 0;\n"
                                "mbarrier.test_wait.parity.b64 %p2, [%rd5], 0;",
                            0),
                "not of shared memory");
  expectFailure(
      runClusters(
          std::string(kMeet) +
              "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r6], 0;",
          0),
      "expected an mbarrier of the thread's own CTA");
}

TEST(Cluster, checksTheBarriersPhases) {
  expectFailure(runClusters("barrier.cluster.wait;", 0),
                "without having arrived");
  expectFailure(
      runClusters("barrier.cluster.arrive;\nbarrier.cluster.arrive;", 0),
      "a second time without having waited");
  expectFailure(runClusters("setp.eq.u32 %p4, %r1, 1;\nL: @%p4 bra L;\n" +
                                std::string(kMeet),
                            0),
                "no end within the budget");
}

TEST(Cluster, countsExitedThreadsAsArrived) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Kernel kernel = runClusters("setp.eq.u32 %p4, %r1, 1;\n@%p4 exit;\n" +
                                    std::string(kMeet) +
                                    "mov.u32 %r12, 9;\n"
                                    "st.global.b32 [%rd1], %r12;\n",
                                seed);
    ASSERT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[0], 9u);
    EXPECT_EQ(kernel.words[32], 0u);
  }
}

TEST(Cluster, refusesGridsOfBrokenClusters) {
  Kernel kernel;
  kernel.body = "ret;";
  kernel.grid = 3;
  kernel.cluster = 2;
  EXPECT_EQ(kernel.run(),
            "expected a grid of whole clusters, got 3 CTAs in clusters of 2");
}

TEST(Cluster, guardsByBeingExplicit) {
  Kernel kernel;
  kernel.body = "mov.b32 %r1, 1;\n@%is_explicit_cluster bra end;\n"
                "mov.b32 %r1, 2;\nend:\nst.global.b32 [%rd1], %r1;\n";
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.words[0], 2u);
}

TEST(Cluster, knowsItsSpecialRegisters) {
  Kernel kernel = runClusters(
      "mov.u32 %r12, %clusterid.x;\nmov.u32 %r13, %nclusterid.x;\n"
      "mov.u32 %r14, %cluster_ctaid.x;\nmov.pred %p5, %is_explicit_cluster;\n"
      "selp.b32 %r15, 1, 0, %p5;\nshr.u32 %r16, %r3, 24;\n"
      "mad.lo.u32 %r12, %r12, 10, %r13;\nmad.lo.u32 %r12, %r12, 10, %r14;\n"
      "mad.lo.u32 %r12, %r12, 10, %r15;\nmad.lo.u32 %r12, %r12, 10, %r16;\n"
      "st.global.b32 [%rd1], %r12;\n",
      0);
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[0], 2010u);
  EXPECT_EQ(kernel.words[3 * 32], 12111u);
}

} // namespace
