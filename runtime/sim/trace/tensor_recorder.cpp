// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace/tensor_recorder.h"

using namespace attn::sim;
using attn::trace::Event;
using attn::trace::Kind;
using attn::trace::Track;
using attn::trace::TrackKind;

// In steps, as rough as those of recorder.cpp.
static constexpr uint64_t kMmaColumnsAStep = 2;
static constexpr uint64_t kCopyBytesAStep = 128;
static constexpr uint64_t kMovedColumnsAStep = 4;

static Kind kindOf(const std::string &name) {
  return name == "mma"     ? Kind::Mma
         : name == "cp"    ? Kind::TensorCopy
         : name == "shift" ? Kind::TensorShift
                           : Kind::Commit;
}

static uint64_t lengthOf(Kind kind, uint64_t size) {
  uint64_t perStep = kind == Kind::Mma ? kMmaColumnsAStep : kCopyBytesAStep;
  return std::max<uint64_t>(1, size / perStep);
}

static std::string nameColumns(uint32_t column, uint32_t columns) {
  return "columns " + std::to_string(column) + " to " +
         std::to_string(column + columns - 1);
}

void TensorRecorder::use(Kind kind, const TmemRegion &region,
                         const std::string &who, const char *by, uint64_t begin,
                         uint64_t end) {
  Event event =
      maker.make(kind, nameColumns(region.column, region.columns), begin, end);
  event.details.push_back({"by", by});
  event.details.push_back({"role", who});
  columns.push_back(std::move(event));
}

void TensorRecorder::issue(TensorOp &op, const std::string &who,
                           const std::string &with, uint64_t time) {
  TensorFacts facts = op.facts();
  Kind kind = kindOf(facts.name);
  uint64_t &threadEnd = threadEnds[{op.warp, op.lane}];
  uint64_t started = time;
  if (kind == Kind::Commit) {
    op.end = std::max(time, threadEnd);
  } else {
    uint64_t length = lengthOf(kind, facts.size);
    started = unit.reserve(std::max(time, queueEnd), length);
    op.end = queueEnd = threadEnd = started + length;
  }
  Event event = maker.make(kind, who, time, op.end);
  event.started = started;
  if (!facts.form.empty()) {
    event.details.push_back({"shape", facts.form});
  }
  if (!with.empty()) {
    event.details.push_back({kind == Kind::Commit ? "to" : "with", with});
  }
  operations.push_back(std::move(event));
  for (const TmemRegion &read : facts.reads) {
    use(Kind::ReadColumns, read, who, facts.name, started, op.end);
  }
  if (facts.writes.columns) {
    use(Kind::WriteColumns, facts.writes, who, facts.name, started, op.end);
  }
}

void TensorRecorder::issue(const TensorMove &move, const std::string &who,
                           uint64_t time) {
  for (const TmemRegion &region : move.regions()) {
    uint64_t length =
        std::max<uint64_t>(1, region.columns / kMovedColumnsAStep);
    use(move.isLoad ? Kind::ReadColumns : Kind::WriteColumns, region, who,
        move.isLoad ? "ld" : "st", time, time + length);
  }
}

void TensorRecorder::allocate(const TmemAllocation &allocation, uint64_t time) {
  open[allocation.base] = {time, allocation.columns};
}

void TensorRecorder::release(const TmemAllocation &allocation, uint64_t time) {
  auto found = open.find(allocation.base);
  if (found == open.end()) {
    return;
  }
  columns.push_back(maker.make(
      Kind::Columns, nameColumns(allocation.base, allocation.columns),
      found->second.first, std::max(found->second.first, time)));
  open.erase(found);
}

Track TensorRecorder::takeQueue() {
  Track track;
  track.kind = TrackKind::TensorCore;
  track.name = "tensor queue";
  track.events = std::move(operations);
  return track;
}

Track TensorRecorder::takeColumns() {
  for (const auto &[base, since] : open) {
    Event event =
        maker.make(Kind::Columns, nameColumns(base, since.second), since.first,
                   std::max(since.first, maker.lastTime));
    event.details.push_back({"ends", "never"});
    columns.push_back(std::move(event));
  }
  Track track;
  track.kind = TrackKind::TensorMemory;
  track.name = "tensor memory";
  track.events = std::move(columns);
  return track;
}
