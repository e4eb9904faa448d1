// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of clusterlaunchcontrol: whoever does the work of a cluster, it is
// done once.

#include "core_kernel.h"

using namespace attn::sim;

namespace {

/// Each CTA increments the word of its own position, at 4 * (x + 16 * y), and
/// of those that its cluster cancels. `request` asks for another; %r1, %r2 and
/// %r3 are the position, %r9 and %r10 that in the cluster.
Kernel runWork(unsigned cluster, const std::string &request, uint64_t seed) {
  Kernel kernel;
  kernel.version = "8.8";
  kernel.target = "sm_100a";
  kernel.grid = 6 * cluster;
  kernel.gridRows = 3;
  kernel.cluster = cluster;
  kernel.seed = seed;
  kernel.body =
      ".reg .b128 %q0;\nmov.u32 %r4, smem;\nsetp.ne.u32 %p1, %r0, 0;\n"
      "@%p1 bra made;\nmbarrier.init.shared::cta.b64 [smem+16], 1;\n"
      "fence.mbarrier_init.release.cluster;\nmade:\n"
      "mov.u32 %r9, %cluster_ctaid.x;\nmov.u32 %r1, %ctaid.x;\n"
      "mov.u32 %r2, %ctaid.y;\nmov.u32 %r5, 0;\nsetp.ne.u32 %p2, %r9, 0;\n"
      "or.pred %p2, %p1, %p2;\nnext:\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "mad.lo.u32 %r6, %r2, 16, %r1;\nmul.wide.u32 %rd2, %r6, 4;\n"
      "add.s64 %rd2, %rd0, %rd2;\n"
      "@!%p1 red.relaxed.gpu.global.add.u32 [%rd2], 1;\n"
      "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+16], 16;\n" +
      request +
      "wait:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, "
      "[smem+16], %r5;\n@!%p3 bra wait;\nxor.b32 %r5, %r5, 1;\n"
      "ld.shared.b128 %q0, [smem];\nfence.proxy.async.shared::cta;\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q0;\n"
      "@!%p4 bra done;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
      "{%r1, %r2, %r3, _}, %q0;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r8, "
      "%q0;\nsetp.ne.u32 %p5, %r8, %r2;\n@%p5 trap;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r8, "
      "%q0;\nsetp.ne.u32 %p5, %r8, %r3;\n@%p5 trap;\n"
      "add.u32 %r1, %r1, %r9;\nbra next;\ndone:\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n";
  kernel.run();
  return kernel;
}

void expectEachOnce(const Kernel &kernel) {
  ASSERT_EQ(kernel.failure, "");
  for (unsigned y = 0; y < 4; ++y) {
    for (unsigned x = 0; x < 16; ++x) {
      EXPECT_EQ(kernel.words[16 * y + x], x < kernel.grid && y < 3)
          << x << ", " << y;
    }
  }
}

const std::string kForm = "clusterlaunchcontrol.try_cancel.async.shared::cta."
                          "mbarrier::complete_tx::bytes";

TEST(LaunchControl, doesTheWorkOfEachCtaOnce) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    expectEachOnce(
        runWork(1, "@!%p2 " + kForm + ".b128 [smem], [smem+16];\n", seed));
  }
}

TEST(LaunchControl, answersAllCtasOfACluster) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    expectEachOnce(runWork(2,
                           "@!%p2 " + kForm +
                               ".multicast::cluster::all.b128 [smem], "
                               "[smem+16];\n",
                           seed));
  }
}

TEST(LaunchControl, takesGenericAddresses) {
  expectEachOnce(runWork(1,
                         "mov.u64 %rd5, smem;\ncvta.shared.u64 %rd5, %rd5;\n"
                         "@!%p2 clusterlaunchcontrol.try_cancel.async."
                         "mbarrier::complete_tx::bytes.b128 [%rd5], "
                         "[%rd5+16];\n",
                         0));
}

TEST(LaunchControl, refusesAddressesThatAreNoResponse) {
  auto expect = [](const std::string &request, const std::string &text) {
    Kernel kernel = runWork(1, request, 0);
    EXPECT_NE(kernel.failure.find(text), std::string::npos) << kernel.failure;
  };
  expect("@!%p2 " + kForm + ".b128 [smem+8], [smem+16];\n", "16-byte aligned");
  expect("mov.u32 %r7, 0x1000400;\n@!%p2 " + kForm +
             ".b128 [%r7], [smem+16];\n",
         "in the thread's own CTA");
  expect("@!%p2 clusterlaunchcontrol.try_cancel.async."
         "mbarrier::complete_tx::bytes.b128 [%rd0], [%rd0+16];\n",
         "is not of shared memory");
}

TEST(LaunchControl, needsBlackwell) {
  Kernel kernel;
  kernel.version = "8.8";
  kernel.body = kForm + ".b128 [smem], [smem+16];\n";
  EXPECT_NE(kernel.run().find("expected '.target' sm_100"), std::string::npos)
      << kernel.failure;
}

} // namespace
