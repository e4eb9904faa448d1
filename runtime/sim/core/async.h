// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a CTA in flight: copies, and matrix multiplications of its
// warpgroups.

#ifndef ATTN_SIM_CORE_ASYNC_H
#define ATTN_SIM_CORE_ASYNC_H

#include "units/tma.h"
#include "units/wgmma.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace attn::sim {

class Cta;

/// The facts about a copy that observers receive.
struct CopyFacts {
  bool toShared = false;
  /// The global address; for a tensor copy, that of its tensor.
  uint64_t global = 0;
  uint32_t shared = 0;
  /// 0 if it only arrives at an mbarrier.
  uint32_t bytes = 0;
};

/// A copy between issue and completion. Copies are not ordered.
class AsyncCopy {
public:
  virtual ~AsyncCopy() = default;
  /// Reads its source, writes its destination and signals. Returns "" or the
  /// error.
  virtual std::string complete(Cta &cta) = 0;
  virtual CopyFacts facts() const = 0;
  /// Whether the operations that it must follow are complete.
  virtual bool mayComplete() const { return true; }

  /// For reports: the instruction, warp and lane that issued it.
  uint32_t pc = 0;
  uint32_t warp = 0;
  uint32_t lane = 0;
  /// HazardTracker's number for a load.
  uint32_t hazard = 0;
};

/// The groups of one thread's bulk copies, or of its cp.async.
struct BulkGroups {
  /// Operations that are not in a group yet.
  uint32_t open = 0;
  /// Pending operations of each committed group that is not complete, oldest
  /// first; the first has number `oldest`.
  std::deque<uint32_t> pending;
  uint64_t oldest = 0;
};

/// A register that an accumulator in flight was copied to.
struct AccumulatorCopy {
  uint32_t warp = 0;   // of the warpgroup
  uint32_t number = 0; // among the watched registers
  uint32_t slot = 0;
};

/// An operation of group number `group` is complete.
void finishGroup(BulkGroups &groups, uint64_t group);
void commitGroup(BulkGroups &groups);
/// Whether at most `pending` committed groups are not complete.
bool isGroupDone(const BulkGroups &groups, size_t pending);

/// The cp.async of one thread: its groups, and how many copies are pending. The
/// latter are counted in batches, each of which ends with a
/// cp.async.mbarrier.arrive.
struct AsyncThread {
  BulkGroups groups;
  std::vector<std::shared_ptr<uint32_t>> batches = {
      std::make_shared<uint32_t>(0)};
};

/// The accumulators of a chain of wgmma while it is in flight: 4 warps x
/// `slots` x 32 lanes.
struct Accumulators {
  std::vector<uint32_t> values;
  /// The registers of the first wgmma of the chain: slots, and numbers among
  /// the watched registers.
  std::vector<uint32_t> slots;
  std::vector<uint32_t> numbers;
  std::vector<AccumulatorCopy> copies;
  /// Operations in flight that use it.
  unsigned users = 0;
  /// Warps whose registers were moved here, one bit each.
  uint32_t taken = 0;
};

struct WgmmaOp {
  uint32_t pc = 0;
  WgmmaSpec spec;
  bool aInRegisters = false;
  MatrixOperand a;
  MatrixOperand b;
  uint64_t descriptors[2] = {0, 0};
  std::vector<uint32_t> aSlots;
  std::shared_ptr<Accumulators> accumulators;
  /// Warps of the group that have issued it, one bit each.
  uint32_t issued = 0;
};

/// The wgmma queue of four warps; operations complete in order.
struct WarpGroup {
  std::deque<WgmmaOp> queue;
  /// Operations completed, and issued by each warp.
  uint64_t completed = 0;
  uint64_t issued[4] = {0, 0, 0, 0};
  /// For each warp and commit, how many operations it had issued.
  std::vector<uint64_t> commits[4];
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_ASYNC_H
