// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA's tensor memory and what tcgen05 has in flight there: the queue of mma,
// cp, shift and commit, which complete in order, and the loads and stores of
// warps.

#ifndef ATTN_SIM_CORE_TENSOR_UNIT_H
#define ATTN_SIM_CORE_TENSOR_UNIT_H

#include "core/launch.h"
#include "core/tensor_allocator.h"
#include "core/tensor_meetings.h"

#include <deque>
#include <memory>

namespace attn::sim {

class Cta;
class Warp;

/// Receives an event when a warp uses the result of one of its loads.
class LoadObserver {
public:
  virtual ~LoadObserver() = default;
  virtual void useLoad(const Warp &warp, uint64_t number) = 0;
};

/// The facts that observers receive about an operation of the queue.
struct TensorFacts {
  /// "mma", "cp", "shift" or "commit".
  const char *name = "";
  std::string form;
  /// Columns of D, or bytes that are copied.
  uint32_t size = 0;
  /// The shared address of B, of the source or of the mbarrier; 0: none.
  uint32_t shared = 0;
  std::vector<TmemRegion> reads;
  TmemRegion writes;
};

/// An operation of the queue between issue and completion.
class TensorOp {
public:
  virtual ~TensorOp() = default;
  /// Takes effect, all at once. Returns "" or the error.
  virtual std::string complete(Cta &cta) = 0;
  /// Returns the tensor memory that it will write, in its CTA or in both CTAs
  /// of a pair.
  virtual TmemRegion writes() const { return {}; }
  virtual TensorFacts facts() const = 0;

  /// The CTA, instruction, warp and lane that issued it.
  Cta *cta = nullptr;
  uint32_t pc = 0;
  uint32_t warp = 0;
  uint32_t lane = 0;
  bool isCommit = false;
  /// Set by the observer: when it is complete.
  uint64_t end = 0;
};

/// A warp's tcgen05.ld or tcgen05.st between issue and completion.
struct TensorMove {
  bool isLoad = false;
  TmemShape shape = TmemShape::L32x32b;
  /// .pack::16b or .unpack::16b.
  bool isPacked = false;
  uint32_t split = 0;
  TmemPlace place = {0, 0};
  /// The registers.
  const uint32_t *slots = nullptr;
  uint32_t count = 0;
  /// Of a store: what it writes, 32 lanes of each register.
  std::vector<uint32_t> values;
  uint32_t pc = 0;
  uint32_t warp = 0;
  /// Counts the warp's loads, from 1.
  uint64_t number = 0;

  /// The one or two regions that it accesses.
  std::vector<TmemRegion> regions() const;
};

class TensorUnit {
public:
  TensorUnit(Cta &cta, AsyncPolicy policy, uint64_t seed);

  // For handlers.
  /// The cells of a column, by lane.
  uint32_t *column(uint32_t index) { return cells.data() + index * kTmemLanes; }
  /// Of a pair of CTAs, the first one's.
  void start(std::unique_ptr<TensorOp> op);
  void start(TensorMove move);
  /// Completes a load whose result is used.
  void useLoad(const Warp &warp, uint64_t number);
  /// Completes all loads or stores of a warp.
  void finishMoves(uint32_t warp, bool loads);
  /// Makes the content of columns undefined when they are allocated.
  void poison(uint32_t base, uint32_t columns);

  // For the schedule.
  /// The number of operations that may complete next.
  size_t countReady() const;
  void completeReady(size_t index);
  /// Operations in the queue.
  size_t countQueued() const { return queue.size(); }

  TensorAllocator allocator;
  /// Of a pair of CTAs, the first one's.
  TensorMeetings meetings;
  /// The kernel's cta_group; 0 if no instruction has named it yet.
  unsigned group = 0;
  /// Null if nobody observes.
  LoadObserver *observer = nullptr;

private:
  std::vector<size_t> findReady() const;
  void completeOp(size_t index);
  void completeMove(size_t index);
  void load(const TensorMove &move);
  void store(const TensorMove &move);
  bool isInFlight(const TensorMove &move) const;
  bool writesAny(const std::vector<TmemRegion> &regions) const;

  Cta &cta;
  const AsyncPolicy policy;
  /// Column after column.
  std::vector<uint32_t> cells;
  std::deque<std::unique_ptr<TensorOp>> queue;
  std::deque<TensorMove> moves;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_TENSOR_UNIT_H
