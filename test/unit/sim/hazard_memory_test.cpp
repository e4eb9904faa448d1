// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races, uninitialized memory and misplaced accesses.

#include "hazard_kernel.h"

using namespace attn::sim;

static const std::string kSetUp = kAddresses;
static const std::string kWriteOwn = "st.shared.b32 [%r2], %r0;\n";
static const std::string kReadMirrored = "ld.shared.b32 %r4, [%r3];\n";

TEST(SimHazardMemory, warpsRaceWithoutABarrier) {
  expectPair("race.shared", kSetUp + kWriteOwn + kReadMirrored,
             kSetUp + kWriteOwn + kSync + kReadMirrored, 64);
}

TEST(SimHazardMemory, readsRaceWithLaterWrites) {
  std::string first = kSetUp + kWriteOwn + kSync + kReadMirrored;
  expectPair("race.shared", first + kWriteOwn, first + kSync + kWriteOwn, 64);
}

TEST(SimHazardMemory, lanesRaceWithoutAWarpBarrier) {
  std::string read = "xor.b32 %r5, %r2, 4;\nld.shared.b32 %r4, [%r5];\n";
  expectPair("race.shared", kSetUp + kWriteOwn + read,
             kSetUp + kWriteOwn + "bar.warp.sync -1;\n" + read, 32);
}

TEST(SimHazardMemory, arrivalsPublishAndWaitsAcquire) {
  // Warp 0 writes, warp 1 reads.
  std::string write = kSetUp + "@!%p1 bra reader;\n" + kWriteOwn;
  std::string read = "bra end;\nreader:\n";
  std::string body = kReadMirrored + "end:\n";
  expectPair("race.shared",
             write + "bar.sync 1, 64;\n" + read + "bar.arrive 1, 64;\n" + body,
             write + "bar.arrive 1, 64;\n" + read + "bar.sync 1, 64;\n" + body,
             64);
}

TEST(SimHazardMemory, bytesOfAWordAreApart) {
  std::string address = kSetUp + "mov.b16 %rs1, 1;\nadd.s32 %r5, %r1, %r0;\n";
  expectSilence(hazardKernel(address + "st.shared.b8 [%r5], %rs1;\n", 64));
  expectRule("race.shared",
             hazardKernel(address + "st.shared.b8 [%r5], %rs1;\n"
                                    "ld.shared.b8 %rs2, [%r5+32];\n",
                          64));
}

TEST(SimHazardMemory, lanesOfOneStoreAgree) {
  expectPair("race.lanes", kSetUp + "st.shared.b32 [%r1], %r0;\n",
             kSetUp + "st.shared.b32 [%r1], 7;\n", 32);
}

TEST(SimHazardMemory, atomicsDoNotRace) {
  expectPair("race.global", "st.global.b32 [%rd0], %r0;\n",
             "red.global.add.u32 [%rd0], 1;\n", 64, 2);
}

TEST(SimHazardMemory, reportsRacesBetweenCtas) {
  std::string first = kAddresses;
  expectPair("race.global", first + "@%p0 st.global.b32 [%rd0], 1;\n",
             first + "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %rd3, %r5, 4;\n"
                     "add.s64 %rd3, %rd0, %rd3;\n"
                     "@%p0 st.global.b32 [%rd3], 1;\n",
             32, 2);
}

/// CTA 0 hands word 1 to CTA 1 through the flag in word 0.
static std::string passMessage(const std::string &write,
                               const std::string &read) {
  return "setp.ne.b32 %p1, %r0, 0;\n@%p1 bra end;\nmov.u32 %r5, %ctaid.x;\n"
         "setp.ne.b32 %p2, %r5, 0;\n@%p2 bra reader;\n"
         "st.global.b32 [%rd0+4], 42;\n" +
         write + "bra end;\nreader:\n" + read +
         "setp.eq.b32 %p3, %r6, 0;\n@%p3 bra reader;\n"
         "ld.global.b32 %r7, [%rd0+4];\nend:\n";
}

TEST(SimHazardMemory, releasesAndAcquiresOrderCtas) {
  const std::string release = "st.release.gpu.global.b32 [%rd0], 1;\n";
  const std::string acquire = "ld.acquire.gpu.global.b32 %r6, [%rd0];\n";
  const std::string relaxedWrite = "st.relaxed.gpu.global.b32 [%rd0], 1;\n";
  const std::string relaxedRead = "ld.relaxed.gpu.global.b32 %r6, [%rd0];\n";
  const std::string fence = "fence.acq_rel.gpu;\n";
  auto races = [](const std::string &write, const std::string &read) {
    expectRule("race.global", hazardKernel(passMessage(write, read), 32, 2));
  };
  auto isOrdered = [](const std::string &write, const std::string &read) {
    expectSilence(hazardKernel(passMessage(write, read), 32, 2));
  };
  isOrdered(release, acquire);
  isOrdered(fence + relaxedWrite, relaxedRead + fence);
  isOrdered("membar.gl;\natom.global.add.u32 %r6, [%rd0], 1;\n", acquire);
  isOrdered("atom.release.gpu.global.add.u32 %r6, [%rd0], 1;\n", acquire);
  races(relaxedWrite, acquire);
  races(release, relaxedRead);
  races(fence + relaxedWrite, relaxedRead);
  races(release, "ld.global.b32 %r6, [%rd0];\n");
  races("st.release.cta.global.b32 [%rd0], 1;\n", acquire);
  races("fence.acq_rel.cta;\n" + relaxedWrite, acquire);
  races("atom.global.add.u32 %r6, [%rd0], 1;\n", acquire);
}

/// All threads of CTA 0 write a word and thread 0 raises a flag; CTA 1 reads.
static Kernel gather(const std::string &between) {
  return hazardKernel(
      "mov.u32 %r5, %ctaid.x;\nsetp.ne.b32 %p2, %r5, 0;\n@%p2 bra reader;\n"
      "st.global.b32 [%rd1+4], 42;\n" +
          between +
          "setp.ne.b32 %p1, %r0, 0;\n"
          "@!%p1 red.relaxed.gpu.global.add.u32 [%rd0], 1;\nbra end;\n"
          "reader:\nld.acquire.gpu.global.b32 %r6, [%rd0];\n"
          "setp.eq.b32 %p3, %r6, 0;\n@%p3 bra reader;\n"
          "ld.global.b32 %r7, [%rd1+4];\nend:\n",
      64, 2);
}

TEST(SimHazardMemory, fencesBeforeABarrierPerformForTheDevice) {
  expectSilence(gather("fence.acq_rel.gpu;\nbar.sync 0;\n"));
  expectSilence(gather("bar.sync 0;\nfence.acq_rel.gpu;\n"));
  expectRule("race.global", gather("bar.sync 0;\n"));
  expectRule("race.global", gather("fence.acq_rel.gpu;\n"));
  expectRule("race.global", gather("fence.acq_rel.cta;\nbar.sync 0;\n"));
}

TEST(SimHazardMemory, readOnlyLoadsWantConstantMemory) {
  std::string read = "ld.global.nc.b32 %r5, [%rd1];\n";
  std::string write = "st.global.b32 [%rd1], 1;\n";
  expectPair("race.nc", write + read, write + "ld.global.b32 %r5, [%rd1];\n",
             32);
  expectPair("race.nc", read + write, read, 32);
}

TEST(SimHazardMemory, reportsReadsOfUnwrittenShared) {
  expectPair("uninit.shared", kSetUp + "ld.shared.b32 %r4, [%r2];\n",
             kSetUp + kWriteOwn + "ld.shared.b32 %r4, [%r2];\n", 32);
  // Half of a word.
  expectRule("uninit.shared",
             hazardKernel(kSetUp + "mov.b16 %rs1, 1;\n"
                                   "st.shared.b16 [%r2], %rs1;\n"
                                   "ld.shared.b32 %r4, [%r2];\n",
                          32));
  expectRule("uninit.shared",
             hazardKernel(kSetUp + "atom.shared.add.u32 %r4, [%r2], 1;\n", 32));
}

TEST(SimHazardMemory, reportsReadsOfFreshGlobal) {
  Kernel kernel = hazardKernel("ld.global.b32 %r4, [%rd1];\n", 32);
  expectSilence(kernel);
  kernel.freshWords = 32;
  expectRule("uninit.global", kernel);
  kernel.body = "st.global.b32 [%rd1], 3;\n" + kernel.body;
  expectSilence(kernel);
}

TEST(SimHazardMemory, namesFaults) {
  auto expectFault = [](const std::string &id, const std::string &body) {
    EXPECT_EQ(idOf(runKernel(body, 64).failure), id) << body;
  };
  expectFault("memory.bounds", "ld.shared.b32 %r1, [smem+4096];");
  expectFault("memory.bounds", "st.global.b32 [%rd0+16384], %r0;");
  expectFault("memory.align", "ld.shared.b32 %r1, [smem+2];");
  expectFault("progress.livelock", "again:\nbra again;");
  expectFault("progress.deadlock",
              "setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 64;\n"
              "@!%p1 bar.sync 2, 64;");
}
