// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with a hazard, and the same without it.

#ifndef ATTN_TEST_UNIT_SIM_HAZARD_KERNEL_H
#define ATTN_TEST_UNIT_SIM_HAZARD_KERNEL_H

#include "core_kernel.h"

#include <set>

namespace attn::sim {

/// The id at the end of a report.
inline std::string idOf(const std::string &text) {
  size_t begin = text.rfind(" [", text.find('\n'));
  size_t end = text.find(']', begin);
  return begin == std::string::npos ? text
                                    : text.substr(begin + 2, end - begin - 2);
}

/// The rules that a run violates, by id.
inline std::set<std::string> reportedIds(const Kernel &kernel) {
  std::set<std::string> ids;
  for (const auto &[key, report] : kernel.reports.get()) {
    ids.insert(idOf(report.text));
  }
  if (!kernel.failure.empty()) {
    ids.insert(idOf(kernel.failure));
  }
  return ids;
}

constexpr uint64_t kHazardSeeds = 8;

/// A kernel after its run on one schedule.
inline Kernel runOn(Kernel kernel, uint64_t seed) {
  kernel.hazards = HazardMode::Warn;
  kernel.hostThreads = 1;
  kernel.seed = seed;
  kernel.run();
  return kernel;
}

/// Every schedule of the kernel is reported for `id`.
inline void expectRule(const std::string &id, const Kernel &original) {
  for (uint64_t seed = 0; seed < kHazardSeeds; ++seed) {
    Kernel kernel = runOn(original, seed);
    EXPECT_EQ(reportedIds(kernel).count(id), 1u)
        << id << ", seed " << kernel.seed << ": " << kernel.failure
        << testing::PrintToString(reportedIds(kernel)) << "\n"
        << kernel.body;
  }
}

/// No schedule of the kernel causes a report.
inline void expectSilence(const Kernel &original) {
  for (uint64_t seed = 0; seed < kHazardSeeds; ++seed) {
    Kernel kernel = runOn(original, seed);
    EXPECT_EQ(kernel.failure, "") << kernel.body;
    for (const auto &[key, report] : kernel.reports.get()) {
      ADD_FAILURE() << report.text << "\n" << kernel.body;
    }
  }
}

inline Kernel hazardKernel(std::string body, unsigned threads,
                           unsigned grid = 1) {
  Kernel kernel;
  kernel.body = std::move(body);
  kernel.threads = threads;
  kernel.grid = grid;
  return kernel;
}

/// Both directions of a rule.
inline void expectPair(const std::string &id, const std::string &broken,
                       const std::string &correct, unsigned threads,
                       unsigned grid = 1) {
  expectRule(id, hazardKernel(broken, threads, grid));
  expectSilence(hazardKernel(correct, threads, grid));
}

// Pieces of kernels. %r2 is the thread's word of shared memory, %r3 that of its
// mirror thread in a CTA of 64; shared memory below 64 bytes is reserved for
// mbarriers.

inline const char *const kAddresses =
    "mov.b32 %r1, smem;\nadd.s32 %r1, %r1, 64;\nshl.b32 %r2, %r0, 2;\n"
    "sub.s32 %r3, 252, %r2;\nadd.s32 %r2, %r2, %r1;\nadd.s32 %r3, %r3, %r1;\n"
    "setp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %r0, 32;\n";
inline const char *const kSync = "bar.sync 0;\n";

/// Thread 0 makes an mbarrier at smem that expects one arrival.
inline const char *const kInit = "@%p0 mbarrier.init.shared.b64 [smem], 1;\n"
                                 "@%p0 fence.mbarrier_init.release.cluster;\n"
                                 "bar.sync 0;\n";

/// Thread 0 announces and starts a copy of 256 bytes to smem+64.
inline const char *const kLoad =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 256;\n"
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[smem+64], [%rd0], 256, [smem];\n";

/// All threads wait for phase 0, or one that is guarded does.
inline std::string waitFor(const std::string &label,
                           const std::string &parity = "0",
                           const std::string &guard = "") {
  return (guard.empty() ? "" : "@!" + guard + " bra " + label + "_end;\n") +
         label + ":\nmbarrier.try_wait.parity.shared.b64 %p9, [smem], " +
         parity + ";\n@!%p9 bra " + label + ";\n" +
         (guard.empty() ? "" : label + "_end:\n");
}

/// Thread 0 stores 256 bytes of shared memory to `out` + 8192.
inline const char *const kStore =
    "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0+8192], [smem+64], "
    "256;\n@%p0 cp.async.bulk.commit_group;\n";

} // namespace attn::sim

#endif // ATTN_TEST_UNIT_SIM_HAZARD_KERNEL_H
