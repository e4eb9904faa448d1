// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timelines of tcgen05: what is in the queue of a CTA, and what happens to the
// columns of its tensor memory.

#ifndef ATTN_SIM_TRACE_TENSOR_RECORDER_H
#define ATTN_SIM_TRACE_TENSOR_RECORDER_H

#include "core/tensor_unit.h"
#include "trace/event_maker.h"
#include "trace/unit_schedule.h"

#include <map>

namespace attn::sim {

class TensorRecorder {
public:
  explicit TensorRecorder(EventMaker &maker) : maker(maker) {}

  /// A thread of the warp that is called `who` issues an operation, whose end
  /// this sets. `with` is the tensor that B or the source was loaded from, or
  /// the mbarrier of a commit.
  void issue(TensorOp &op, const std::string &who, const std::string &with,
             uint64_t time);
  void issue(const TensorMove &move, const std::string &who, uint64_t time);
  void allocate(const TmemAllocation &columns, uint64_t time);
  void release(const TmemAllocation &columns, uint64_t time);

  /// Returns the recorded events; called once, at the end.
  trace::Track takeQueue();
  trace::Track takeColumns();

private:
  void use(trace::Kind kind, const TmemRegion &region, const std::string &who,
           const char *by, uint64_t begin, uint64_t end);

  EventMaker &maker;
  /// The queue is in order.
  UnitSchedule unit;
  uint64_t queueEnd = 0;
  /// The end of what each thread has issued, by warp and lane.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> threadEnds;
  /// When the columns from each base on were allocated, and how many.
  std::map<uint32_t, std::pair<uint64_t, uint32_t>> open;
  std::vector<trace::Event> operations;
  std::vector<trace::Event> columns;
};

} // namespace attn::sim

#endif // ATTN_SIM_TRACE_TENSOR_RECORDER_H
