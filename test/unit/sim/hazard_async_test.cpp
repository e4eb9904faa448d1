// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies, wgmma and the proxy fence.

#include "hazard_kernel.h"

using namespace attn::sim;

static const std::string kSetUp = kAddresses;
static const std::string kBegin = kSetUp + kInit;
static const std::string kWriteOwn = "st.shared.b32 [%r2], %r0;\n";
static const std::string kReadOwn = "ld.shared.b32 %r4, [%r2];\n";
static const std::string kFence = "fence.proxy.async.shared::cta;\n";
static const std::string kReadDone = "@%p0 cp.async.bulk.wait_group.read 0;\n";
static const std::string kStoreDone = "@%p0 cp.async.bulk.wait_group 0;\n";

TEST(SimHazardAsync, loadsAreAwaited) {
  expectPair("async.load-not-awaited", kBegin + kLoad + kReadOwn,
             kBegin + kLoad + waitFor("wait") + kReadOwn, 64);
}

TEST(SimHazardAsync, whoDidNotWaitNeedsABarrier) {
  std::string first = kBegin + kLoad + kSync + waitFor("wait", "0", "%p1");
  expectPair("async.load-not-awaited", first + kReadOwn,
             first + kSync + kReadOwn, 64);
}

TEST(SimHazardAsync, aWaitOfOneLaneIsNotTheWarps) {
  std::string first = kBegin + kLoad + waitFor("wait", "0", "%p0");
  expectPair("async.load-not-awaited", first + kReadOwn,
             first + "bar.warp.sync -1;\n" + kReadOwn, 32);
}

TEST(SimHazardAsync, aWaitIsRepeatedUntilItPasses) {
  std::string once = "mbarrier.try_wait.parity.shared.b64 %p9, [smem], 0;\n";
  Kernel kernel = hazardKernel(kBegin + kLoad + once + kReadOwn, 32);
  kernel.run();
  EXPECT_EQ(idOf(kernel.failure), "async.load-not-awaited");
}

TEST(SimHazardAsync, aRelaxedWaitStillSeesTheCopy) {
  expectSilence(hazardKernel(
      kBegin + kLoad +
          "wait:\nmbarrier.try_wait.parity.relaxed.cta.shared.b64 %p9, [smem], "
          "0;\n@!%p9 bra wait;\n" +
          kReadOwn,
      32));
}

TEST(SimHazardAsync, storesWantAFenceAfterPlainWrites) {
  std::string write = kSetUp + kWriteOwn;
  std::string store = kStore + kReadDone;
  // The fence may be executed by the writers before the barrier, or by the
  // issuer after it.
  expectPair("proxy.missing-fence", write + kSync + store,
             write + kFence + kSync + store, 64);
  expectSilence(hazardKernel(write + kSync + kFence + store, 64));
  // A fence before the writes, or for the other memory, does not help.
  expectRule("proxy.missing-fence",
             hazardKernel(kSetUp + kFence + kWriteOwn + kSync + store, 64));
  expectRule(
      "proxy.missing-fence",
      hazardKernel(write + "fence.proxy.async.global;\n" + kSync + store, 64));
  // A fence is no barrier.
  expectRule("race.shared", hazardKernel(write + kFence + store, 64));
}

TEST(SimHazardAsync, loadsWantAFenceAfterPlainAccesses) {
  std::string first = kBegin + kWriteOwn + kReadOwn;
  expectPair("proxy.reuse-without-fence",
             first + kSync + kLoad + waitFor("wait"),
             first + kFence + kSync + kLoad + waitFor("wait"), 64);
}

TEST(SimHazardAsync, storesHaveReadTheirSource) {
  std::string first = kSetUp + kWriteOwn + kFence + kSync + kStore;
  expectPair("async.store-source-overwritten", first + kSync + kWriteOwn,
             first + kReadDone + kSync + kWriteOwn, 64);
  // Another thread's wait does not help.
  expectRule("async.store-source-overwritten",
             hazardKernel(first + "@!%p0 cp.async.bulk.wait_group.read 0;\n" +
                              kSync + kWriteOwn + kStoreDone,
                          64));
  // Nor does one that leaves the group pending.
  expectRule("async.store-source-overwritten",
             hazardKernel(first + "@%p0 cp.async.bulk.wait_group.read 1;\n" +
                              kSync + kWriteOwn + kStoreDone,
                          64));
}

TEST(SimHazardAsync, storesAreCompleteBeforeTheirResultIsRead) {
  std::string first = kSetUp + kWriteOwn + kFence + kSync + kStore;
  std::string read = "@%p0 ld.global.b32 %r4, [%rd0+8192];\n";
  expectPair("async.store-not-awaited", first + kReadDone + read,
             first + kStoreDone + read, 64);
}

TEST(SimHazardAsync, loadsOfGlobalWantAFenceAfterPlainWrites) {
  std::string write = kBegin + "st.global.b32 [%rd1], %r0;\n";
  std::string load = std::string(kLoad) + waitFor("wait");
  expectPair("proxy.missing-fence", write + kSync + load,
             write + "fence.proxy.async.global;\n" + kSync + load, 64);
}

TEST(SimHazardAsync, copiesOfUnwrittenSharedAreReported) {
  expectRule("uninit.shared", hazardKernel(kSetUp + kStore + kReadDone, 64));
}

TEST(SimHazardAsync, reportsWhatIsLeftAtTheEnd) {
  std::string load = kBegin + kLoad;
  expectPair("exit.load-not-awaited", load, load + waitFor("wait"), 32);
  std::string store = kSetUp + kWriteOwn + kFence + kSync + kStore;
  expectPair("exit.store-not-awaited", store, store + kReadDone, 64);
}

/// D = A * B for m64n8k16 of bf16 ones at smem+0 and smem+2048.
static std::string multiply(const std::string &fence,
                            const std::string &afterIssue) {
  return "shl.b32 %r2, %r0, 4;\nmov.b32 %r3, smem;\nadd.s32 %r2, %r2, %r3;\n"
         "mov.b32 %r4, 0x3f803f80;\n"
         "st.shared.v4.b32 [%r2], {%r4, %r4, %r4, %r4};\n"
         "st.shared.v4.b32 [%r2+2048], {%r4, %r4, %r4, %r4};\n" +
         fence +
         "bar.sync 0;\nshr.u32 %r5, %r3, 4;\nor.b32 %r5, %r5, 0x80000;\n"
         "mov.b64 %rd2, {%r5, 16};\nadd.s32 %r6, %r5, 128;\n"
         "mov.b64 %rd3, {%r6, 16};\nmov.b32 %r10, 0;\nmov.b32 %r11, 0;\n"
         "mov.b32 %r12, 0;\nmov.b32 %r13, 0;\nsetp.ne.b32 %p1, 0, 0;\n"
         "wgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
         "{%r10, %r11, %r12, %r13}, %rd2, %rd3, %p1, 1, 1, 0, 0;\n"
         "wgmma.commit_group.sync.aligned;\n" +
         afterIssue;
}

static const std::string kWgmmaDone = "wgmma.wait_group.sync.aligned 0;\n";

TEST(SimHazardAsync, wgmmaWantsAFenceAfterPlainWrites) {
  expectPair("proxy.missing-fence", multiply("", kWgmmaDone),
             multiply(kFence, kWgmmaDone), 128);
}

TEST(SimHazardAsync, wgmmaHasReadItsOperands) {
  std::string rewrite = "st.shared.b32 [%r2+2048], %r4;\n";
  // %r2 + 2048 of warps 1 to 3 lies behind B.
  expectPair("async.wgmma-source-overwritten",
             multiply(kFence, kSync + rewrite + kWgmmaDone),
             multiply(kFence, kWgmmaDone + kSync + rewrite), 128);
}

TEST(SimHazardAsync, wgmmaIsAwaitedAtTheEnd) {
  expectPair("exit.wgmma-not-awaited", multiply(kFence, ""),
             multiply(kFence, kWgmmaDone), 128);
}

TEST(SimHazardAsync, wgmmaReadsWrittenOperands) {
  std::string text = multiply(kFence, kWgmmaDone);
  std::string store = "st.shared.v4.b32 [%r2+2048], {%r4, %r4, %r4, %r4};\n";
  text.erase(text.find(store), store.size());
  expectRule("uninit.shared", hazardKernel(text, 128));
}

TEST(SimHazardAsync, namesFaultsOfCopies) {
  auto expectFault = [](const std::string &id, const std::string &body) {
    EXPECT_EQ(idOf(runKernel(kSetUp + body).failure), id) << body;
  };
  const std::string to = "cp.async.bulk.global.shared::cta.bulk_group ";
  expectFault("memory.align", to + "[%rd0], [smem], 8;");
  expectFault("memory.bounds", to + "[%rd0], [smem+4096], 16;");
  const std::string tensor = "cp.async.bulk.tensor.1d.global.shared::cta.tile"
                             ".bulk_group [%rd5, {%r0}], [smem];";
  expectFault("tensormap.space",
              "mov.b64 %rd5, smem;\ncvta.shared.u64 %rd5, %rd5;\n" + tensor);
  expectFault("tensormap.invalid",
              "add.s64 %rd5, %rd0, 63;\nand.b64 %rd5, %rd5, -64;\n" + tensor);
  expectFault("mbarrier.not-live",
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
              "bytes [smem+64], [%rd0], 256, [smem];");
}

TEST(SimHazardAsync, tensorMapsAreNotWritten) {
  std::string body = kSetUp + "add.s64 %rd5, %rd0, 127;\n"
                              "and.b64 %rd5, %rd5, -128;\n"
                              "@%p0 st.global.b64 [%rd5], %rd5;\n"
                              "@%p0 cp.async.bulk.tensor.1d.global.shared::cta"
                              ".tile.bulk_group [%rd5, {%r0}], [smem];";
  Kernel kernel = hazardKernel(body, 32);
  kernel.run();
  EXPECT_EQ(idOf(kernel.failure), "tensormap.written");
}
