// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05: the allocation of tensor memory, fences, and waits for loads and
// stores.

#include "ops/tcgen05.h"

#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

#include <algorithm>

using namespace attn::sim;

TensorUnit &attn::sim::tensorOf(Warp &warp) {
  TensorUnit &unit = warp.cta.inFlight.tensorUnit();
  unit.observer = warp.cta.hazards ? &warp.cta.hazards->tmem : nullptr;
  return unit;
}

bool attn::sim::isWholeWarp(Warp &warp, Step &step) {
  if (warp.live != kAllLanes) {
    step = warp.fault(Rule::WarpDivergent, "expected all 32 lanes of the warp");
    return false;
  }
  return warp.gather(kAllLanes, Rule::WarpDivergent, step);
}

bool attn::sim::readUniform(Warp &warp, const uint32_t *lanes, const char *name,
                            uint32_t &value) {
  value = lanes[0];
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    if (lanes[lane] != value) {
      warp.fault(Rule::TmemAddress,
                 std::string("expected the same ") + name +
                     " in all lanes, got " + toHex(lanes[lane]) +
                     " and in lane 0 " + toHex(value),
                 lane);
      return false;
    }
  }
  return true;
}

static bool faultGroup(Warp &warp, const std::string &message) {
  warp.fault(Rule::UmmaGroup, message);
  return false;
}

bool attn::sim::useGroup(Warp &warp, unsigned group, unsigned lane) {
  unsigned &known = tensorOf(warp).group;
  known = known ? known : group;
  if (known != group) {
    return faultGroup(warp, "cta_group::" + std::to_string(group) +
                                " after an instruction of cta_group::" +
                                std::to_string(known));
  }
  uint32_t peer = warp.cta.rank ^ 1;
  if (group == 2 && peer >= warp.cta.cluster.size()) {
    return faultGroup(warp, "cta_group::2, and the CTA of rank " +
                                std::to_string(warp.cta.rank) +
                                " has no peer in its cluster");
  }
  if (group == 2 && warp.cta.hazards) {
    HazardTracker &hazards = *warp.cta.hazards;
    hazards.remoteUses.useCta(hazards.history.accessorOf(warp, lane),
                              peer << kSharedRankShift, /*ends=*/false);
  }
  return true;
}

uint32_t attn::sim::ranksOf(const Cta &cta, unsigned group) {
  return group == 2 ? 3u << (cta.rank & ~1u) : 1u << cta.rank;
}

std::string attn::sim::checkGroupRuns(Cta &cta, unsigned group) {
  std::string problem;
  forGroup(cta, group, [&](Cta &part, uint32_t) {
    if (&part != &cta && part.isDone()) {
      problem = "the CTA of rank " + std::to_string(part.rank) + " has exited" +
                ruleSuffix(Rule::ClusterExited);
    }
  });
  return problem;
}

void attn::sim::startOp(Warp &warp, unsigned group,
                        std::unique_ptr<TensorOp> op) {
  op->cta = &warp.cta;
  op->pc = warp.now.pc;
  op->warp = warp.index;
  if (warp.cta.observer) {
    warp.cta.observer->onIssue(warp, *op);
  }
  Cta &first =
      group == 2 ? warp.cta.cluster.getCta(warp.cta.rank & ~1u) : warp.cta;
  first.inFlight.tensorUnit().start(std::move(op));
}

bool attn::sim::checkColumns(Warp &warp, const char *what, uint32_t column,
                             uint32_t columns, unsigned lane) {
  const TensorAllocator &allocator = tensorOf(warp).allocator;
  if (column + columns <= kTmemColumns && allocator.contains(column, columns)) {
    return true;
  }
  warp.fault(Rule::TmemColumn,
             std::string(what) + " takes columns " + std::to_string(column) +
                 " to " + std::to_string(column + columns - 1) +
                 ", allocated are " + allocator.describe(),
             lane);
  return false;
}

namespace {

/// Bits of Inst::aux.
constexpr uint64_t kGeneric = 1;
constexpr uint64_t kLoads = 2;
constexpr uint64_t kPair = 4;

unsigned groupOf(const Inst &inst) { return inst.aux & kPair ? 2 : 1; }

/// "" or why no allocation can have this size.
std::string checkSize(const TensorAllocator &allocator, uint32_t columns) {
  if (columns < 32 || columns > kTmemColumns || (columns & (columns - 1))) {
    return "expected a power of two from 32 to 512 columns, got " +
           std::to_string(columns);
  }
  if (allocator.isRelinquished) {
    return "the CTA has given up its permit to allocate";
  }
  return columns <= allocator.mostColumns
             ? ""
             : "expected at most " + std::to_string(allocator.mostColumns) +
                   " columns, as the last allocation had, got " +
                   std::to_string(columns);
}

/// The address of a shared operand; false after a fault.
bool readShared(Warp &warp, const Inst &inst, uint32_t &address) {
  uint64_t full = address64(warp, inst, inst.slots[0], /*lane=*/0);
  if ((inst.aux & kGeneric) && (full & kWindowMask) != kSharedWindow) {
    warp.fault("the generic address is not of shared memory", 0);
    return false;
  }
  address = uint32_t(full);
  if (address % 4 != 0 || !warp.cta.shared(address, 4)) {
    warp.fault(
        address % 4 ? Rule::Align : Rule::Bounds,
        "no allocation can be written to shared address " + toHex(address), 0);
    return false;
  }
  return true;
}

/// The columns become the CTA's, with nothing in them.
void clear(Cta &cta, const TmemAllocation &got) {
  cta.inFlight.tensorUnit().poison(got.base, got.columns);
  if (cta.hazards) {
    cta.hazards->tmem.allocate(cta.getWarp(got.warp), got.base, got.columns);
  }
  if (cta.observer) {
    cta.observer->onAllocate(got);
  }
}

/// Stores the address, for all lanes to read.
void deliver(Warp &warp, uint32_t address, uint32_t base) {
  if (warp.cta.hazards) {
    warp.cta.hazards->plain.storeShared(warp, /*lane=*/0, address, 4);
    warp.cta.hazards->knowledge.syncLanes(warp, warp.exec);
  }
  std::memcpy(warp.cta.shared(address, 4), &base, 4);
}

/// Where the pair's CTAs meet.
TensorMeetings &meetingsOf(Warp &warp) {
  Cta &first = warp.cta.cluster.getCta(warp.cta.rank & ~1u);
  return first.inFlight.tensorUnit().meetings;
}

/// The meeting that the warp's CTA is at; null after a fault.
TensorMeeting *meet(Warp &warp, TensorMeeting::Kind kind,
                    const TmemAllocation &wanted) {
  uint32_t side = warp.cta.rank & 1;
  TensorMeeting &meeting = meetingsOf(warp).current(side);
  uint32_t peers = meeting.wanted[side ^ 1].columns;
  bool isThere = meeting.arrived >> (side ^ 1) & 1;
  if (isThere && (meeting.kind != kind || peers != wanted.columns)) {
    bool allocates = meeting.kind == TensorMeeting::Kind::Allocate;
    warp.fault(Rule::TmemAlloc,
               "the other CTA of the pair has come to " +
                   std::string(allocates ? "an alloc" : "a dealloc") + " of " +
                   std::to_string(peers) + " columns");
    return nullptr;
  }
  meeting.kind = kind;
  if (!meeting.isDone) {
    meeting.wanted[side] = wanted;
  }
  return &meeting;
}

/// Whether the CTAs that share the multiprocessors let a group allocate.
bool mayAllocate(Warp &warp, unsigned group) {
  Cluster *neighbor = warp.cta.cluster.getNeighbor();
  bool isFree = true;
  forGroup(warp.cta, neighbor ? group : 0, [&](Cta &cta, uint32_t) {
    TensorUnit *unit = neighbor->getCta(cta.rank).inFlight.findTensorUnit();
    const TensorAllocator *other = unit ? &unit->allocator : nullptr;
    cta.inFlight.tensorUnit().allocator.neighbor = other;
    isFree &= !other || !other->holdsPermit();
  });
  return isFree;
}

/// Allocates for both CTAs of a pair once both are there; false if that is not
/// to be yet.
bool allocatePair(Warp &warp, TensorMeeting &meeting) {
  meeting.arrived |= 1u << (warp.cta.rank & 1);
  if (!meeting.isDone && meeting.arrived == 3 && mayAllocate(warp, 2)) {
    TensorAllocator *allocators[2];
    forGroup(warp.cta, 2, [&](Cta &cta, uint32_t side) {
      allocators[side] = &cta.inFlight.tensorUnit().allocator;
    });
    meeting.isDone = allocators[0]->allocateBoth(
        meeting.wanted[0], *allocators[1], meeting.wanted[1]);
    // Whichever CTA goes on first may use the columns of both.
    forGroup(warp.cta, 2, [&](Cta &cta, uint32_t side) {
      ++cta.changes;
      if (meeting.isDone) {
        clear(cta, meeting.wanted[side]);
      }
    });
  }
  return meeting.isDone;
}

/// The columns of one CTA, or those that a pair has got; false: not yet.
bool allocateFor(Warp &warp, TensorMeeting *meeting, TmemAllocation &wanted) {
  if (!meeting) {
    bool isFree =
        mayAllocate(warp, 1) && tensorOf(warp).allocator.allocate(wanted);
    if (isFree) {
      clear(warp.cta, wanted);
    }
    return isFree;
  }
  if (!allocatePair(warp, *meeting)) {
    return false;
  }
  wanted = meeting->wanted[warp.cta.rank & 1];
  meetingsOf(warp).leave(warp.cta.rank & 1);
  return true;
}

/// Reads the allocation that the warp requests; false after a fault.
bool readAllocation(Warp &warp, const Inst &inst, uint32_t &address,
                    TmemAllocation &wanted) {
  wanted.warp = warp.index;
  wanted.pc = warp.now.pc;
  return useGroup(warp, groupOf(inst), /*lane=*/0) &&
         readShared(warp, inst, address) &&
         readUniform(warp, warp.word(inst.slots[1]), "number of columns",
                     wanted.columns);
}

/// Slots: the address to write to, and how many columns.
Step allocate(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t address = 0;
  TmemAllocation wanted;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  if (!readAllocation(warp, inst, address, wanted)) {
    return Step::Fault;
  }
  TensorMeeting *meeting = nullptr;
  if (inst.aux & kPair) {
    meeting = meet(warp, TensorMeeting::Kind::Allocate, wanted);
    if (!meeting) {
      return Step::Fault;
    }
  }
  const TensorAllocator &allocator = tensorOf(warp).allocator;
  // The allocation of a pair was checked before.
  std::string problem =
      meeting && meeting->isDone ? "" : checkSize(allocator, wanted.columns);
  if (!problem.empty()) {
    return warp.fault(Rule::TmemAlloc, problem);
  }
  if (!allocateFor(warp, meeting, wanted)) {
    return warp.block(Wait::Kind::TensorMemory, allocator.countFree(),
                      wanted.columns);
  }
  deliver(warp, address, wanted.base);
  return warp.pass(Wait::Kind::TensorMemory, 0, wanted.columns);
}

/// Frees the CTA's columns; false after a fault.
bool freeColumns(Warp &warp, uint32_t base, uint32_t columns) {
  TensorAllocator &allocator = tensorOf(warp).allocator;
  if (!allocator.release(base, columns)) {
    warp.fault(Rule::TmemAlloc,
               std::to_string(columns) + " columns at " + toHex(base) +
                   " are no allocation; allocated are " + allocator.describe());
    return false;
  }
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.release(warp, base, columns);
  }
  if (warp.cta.observer) {
    warp.cta.observer->onRelease({base, columns, warp.index, warp.now.pc});
  }
  warp.cta.cluster.wakeNeighbor();
  return true;
}

/// Frees the CTA's columns, and then perhaps waits for the other CTA.
Step releasePair(Warp &warp, uint32_t base, uint32_t columns) {
  TmemAllocation wanted;
  wanted.columns = columns;
  TensorMeeting *meeting = meet(warp, TensorMeeting::Kind::Release, wanted);
  uint32_t own = 1u << (warp.cta.rank & 1);
  if (!meeting ||
      (!(meeting->arrived & own) && !freeColumns(warp, base, columns))) {
    return Step::Fault;
  }
  if (!(meeting->arrived & own)) {
    meeting->arrived |= own;
    forGroup(warp.cta, 2, [](Cta &cta, uint32_t) { ++cta.changes; });
  }
  if (meeting->arrived != 3 && tensorOf(warp).allocator.waitsForPeer()) {
    return warp.block(Wait::Kind::TensorMemory, 0, columns);
  }
  meetingsOf(warp).leave(warp.cta.rank & 1);
  return Step::Next;
}

/// Slots: the address of the allocation, and how many columns.
Step release(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t address = 0;
  uint32_t columns = 0;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  if (!useGroup(warp, groupOf(inst), /*lane=*/0) ||
      !readUniform(warp, warp.word(inst.slots[0]), "address", address) ||
      !readUniform(warp, warp.word(inst.slots[1]), "number of columns",
                   columns)) {
    return Step::Fault;
  }
  if (inst.aux & kPair) {
    return releasePair(warp, address, columns);
  }
  if (!freeColumns(warp, address, columns)) {
    return Step::Fault;
  }
  ++warp.cta.changes;
  return Step::Next;
}

Step relinquish(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  tensorOf(warp).allocator.isRelinquished = true;
  warp.cta.cluster.wakeNeighbor();
  return useGroup(warp, groupOf(inst), /*lane=*/0) ? Step::Next : Step::Fault;
}

Step fenceBefore(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.fenceBefore(warp);
  }
  return Step::Next;
}

Step fenceAfter(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.fenceAfter(warp);
  }
  return Step::Next;
}

Step wait(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  bool loads = inst.aux & kLoads;
  tensorOf(warp).finishMoves(warp.index, loads);
  if (loads) {
    warp.loads.wait();
  }
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.wait(warp, loads);
  }
  return Step::Next;
}

bool finishAllocation(OperandDecoder &, const ptx::Instruction &,
                      const Match &match, Inst &inst) {
  inst.aux = (match.has(".shared::cta") ? 0 : kGeneric) |
             (match.has(".cta_group::2") ? kPair : 0);
  return true;
}

} // namespace

void attn::sim::addTensorRows(Rows &rows) {
  const std::string group = "{.cta_group::1|.cta_group::2}";
  const std::string aligned = group + ".sync.aligned";
  rows.insert(rows.end(),
              {{keep("tcgen05.alloc" + aligned + "[.shared::cta].b32"), "m 4",
                allocate, finishAllocation},
               {keep("tcgen05.dealloc" + aligned + ".b32"), "4 4", release,
                finishAllocation},
               {keep("tcgen05.relinquish_alloc_permit" + aligned), "",
                relinquish, finishAllocation},
               {"tcgen05.fence::before_thread_sync", "", fenceBefore},
               {"tcgen05.fence::after_thread_sync", "", fenceAfter},
               {"tcgen05.wait::ld.sync.aligned", "", wait, nullptr, kLoads},
               {"tcgen05.wait::st.sync.aligned", "", wait}});
}
