// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The asynchronous operations of a CTA: started by handlers, completed when the
// schedule decides.

#ifndef ATTN_SIM_CORE_IN_FLIGHT_H
#define ATTN_SIM_CORE_IN_FLIGHT_H

#include "core/async.h"
#include "core/launch.h"
#include "core/random.h"
#include "core/tensor_unit.h"
#include "core/warp.h"

namespace attn::sim {

class InFlight {
public:
  InFlight(Cta &cta, const SimOptions &options, Random &random);

  // For handlers.
  void start(std::unique_ptr<AsyncCopy> copy);
  BulkGroups &bulkGroups(const Warp &warp, unsigned lane) {
    return bulk[warp.index * kLanes + lane];
  }
  void finishBulk(uint32_t warp, uint32_t lane, uint64_t group) {
    finishGroup(bulk[warp * kLanes + lane], group);
  }
  AsyncThread &asyncThread(uint32_t warp, unsigned lane) {
    asyncThreads.resize(bulk.size());
    return asyncThreads[warp * kLanes + lane];
  }
  WarpGroup &groupOf(const Warp &warp) {
    return groups[warp.index / kGroupWarps];
  }
  /// The CTA's tensor memory, made when it is first wanted.
  TensorUnit &tensorUnit();
  /// Returns the CTA's tensor memory, or null if it was not wanted yet.
  TensorUnit *findTensorUnit() { return tensor.get(); }
  /// Completes those of the warpgroup's operations that may complete, if all
  /// operations complete early.
  void completeEarly(const Warp &warp);

  // For the schedule.
  /// Completes one operation in flight; false if there is none that may.
  bool completeOne();
  /// By warpgroup.
  const std::vector<WarpGroup> &getGroups() const { return groups; }

private:
  void completeCopy(size_t index);
  /// Multiplies and retires the oldest operation of a warpgroup.
  void completeWgmma(size_t group);

  /// The operations that a random schedule completes first: a multiplication
  /// that overtakes the copies reveals a missing wait, and so does the reverse.
  enum class Preference : uint8_t { None, Units, Copies };

  Cta &cta;
  const AsyncPolicy policy;
  const Preference preference;
  /// The schedule's.
  Random &random;
  /// By thread.
  std::vector<BulkGroups> bulk;
  std::vector<AsyncThread> asyncThreads;
  std::vector<WarpGroup> groups;
  std::vector<std::unique_ptr<AsyncCopy>> copies;
  std::unique_ptr<TensorUnit> tensor;
  const uint64_t seed;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_IN_FLIGHT_H
