// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 16 named barriers of a CTA.

#include "core/cta.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// Inst::aux of the named barriers.
enum class Barrier : uint64_t { Sync, Arrive };

uint32_t countThreads(const Cta &cta) {
  return (cta.threads + kLanes - 1) / kLanes * kLanes;
}

/// Whether `warp` may arrive at a barrier of `count` threads; otherwise `step`
/// is the outcome.
bool mayArrive(Warp &warp, const NamedBarrier &barrier, uint32_t count,
               bool waits, Step &step) {
  uint32_t all = countThreads(warp.cta);
  if (count % kLanes != 0 || count == 0 || count > all) {
    step = warp.fault(Rule::BarrierCount,
                      "expected a multiple of 32 up to " + std::to_string(all) +
                          " threads, got " + std::to_string(count));
    return false;
  }
  if (barrier.arrived != 0 && barrier.expected != count) {
    step = warp.fault(Rule::BarrierDiffers,
                      "expected " + std::to_string(barrier.expected) +
                          " threads as the first to arrive, got " +
                          std::to_string(count));
    return false;
  }
  // Hardware counts arrivals: a warp may arrive and then also wait.
  bool again = barrier.arrivers >> warp.index & 1 && !waits;
  if (again && !warp.report(Rule::BarrierTwice,
                            "the warp has arrived in this phase already")) {
    step = Step::Fault;
    return false;
  }
  return true;
}

void arrive(Warp &warp, NamedBarrier &barrier, uint32_t count, bool waits) {
  barrier.expected = count;
  barrier.arrived += kLanes;
  (waits ? barrier.waiters : barrier.arrivers) |= 1u << warp.index;
  ++warp.cta.changes;
  if (barrier.arrived == count) {
    barrier.arrived = barrier.arrivers = barrier.waiters = 0;
    ++barrier.generation;
  }
}

/// The operand in `slot`, which is to be the same in all lanes.
bool readUniform(Warp &warp, uint32_t slot, uint32_t &value) {
  const uint32_t *lanes = warp.word(slot);
  value = lanes[__builtin_ctz(warp.exec)];
  uint32_t differing = 0;
  forLanes(warp.exec, [&](unsigned lane) {
    differing |= uint32_t(lanes[lane] != value) << lane;
  });
  if (differing) {
    warp.fault(Rule::BarrierLanes,
               "expected " + std::to_string(value) + " in all lanes",
               unsigned(__builtin_ctz(differing)));
  }
  return differing == 0;
}

/// The number and the thread count of a barrier. False after a fault.
bool readBarrier(Warp &warp, uint32_t idSlot, uint32_t countSlot, uint32_t &id,
                 uint32_t &count) {
  count = countThreads(warp.cta);
  if (!readUniform(warp, idSlot, id) ||
      (countSlot != kNone && !readUniform(warp, countSlot, count))) {
    return false;
  }
  if (id >= kNamedBarriers) {
    warp.fault(Rule::BarrierId,
               "expected barrier 0 to 15, got " + std::to_string(id));
  }
  return id < kNamedBarriers;
}

/// Counts the warp, whose lanes have published what they know, as arrived.
/// Returns false if it may not arrive; `step` is then the outcome.
bool countWarp(Warp &warp, uint32_t id, uint32_t count, bool waits,
               Step &step) {
  NamedBarrier &barrier = warp.cta.barriers[id];
  uint64_t generation = barrier.generation;
  if (!mayArrive(warp, barrier, count, waits, step)) {
    return false;
  }
  arrive(warp, barrier, count, waits);
  bool completes = barrier.generation != generation;
  if (warp.cta.hazards && completes) {
    warp.cta.hazards->barriers.completeNamed(warp, id);
  }
  if (warp.cta.observer) {
    warp.cta.observer->onArrive(&warp, Wait::Kind::NamedBarrier, id, completes);
  }
  return true;
}

/// All lanes of the warp arrive, and may have to wait. Returns false if they
/// may not arrive.
bool arriveAt(Warp &warp, uint32_t id, uint32_t count, bool waits, Step &step) {
  uint64_t generation = warp.cta.barriers[id].generation;
  if (warp.cta.hazards) {
    warp.cta.hazards->barriers.arriveNamed(warp, warp.exec, id, waits);
  }
  if (!countWarp(warp, id, count, waits, step)) {
    return false;
  }
  warp.now.arrived = waits;
  warp.now.generation = generation;
  return true;
}

/// Whether the barrier at which the warp has arrived is complete; `step` is the
/// outcome for the warp.
bool leaveBarrier(Warp &warp, uint32_t id, Step &step) {
  if (warp.now.generation == warp.cta.barriers[id].generation) {
    step = warp.block(Wait::Kind::NamedBarrier, id);
    return false;
  }
  warp.now.arrived = false;
  if (warp.cta.hazards) {
    warp.cta.hazards->barriers.leaveNamed(warp);
  }
  step = warp.pass(Wait::Kind::NamedBarrier, id);
  return true;
}

Step namedBarrier(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t id = 0;
  uint32_t count = 0;
  if (!warp.gather(kAllLanes, Rule::WarpDivergent, step)) {
    return step;
  }
  if (!readBarrier(warp, inst.slots[0], inst.slots[1], id, count)) {
    return Step::Fault;
  }
  if (!warp.now.arrived) {
    bool waits = Barrier(inst.aux) == Barrier::Sync;
    if (!arriveAt(warp, id, count, waits, step) || !waits) {
      return step;
    }
  }
  leaveBarrier(warp, id, step);
  return step;
}

/// Lets lanes whose guard is false continue without those that wait. Returns
/// whether there are any.
bool leaveOthers(Warp &warp) {
  LaneGroup others = warp.now;
  others.lanes &= ~warp.exec;
  ++others.pc;
  if (others.lanes) {
    warp.now.lanes = warp.exec;
    warp.others.push_back(others);
  }
  return others.lanes != 0;
}

/// Lets those lanes arrive that have not arrived; the warp has arrived when all
/// of its lanes have. Returns false if it may not.
bool arriveLanes(Warp &warp, uint32_t id, uint32_t count, bool waits,
                 Step &step) {
  NamedBarrier &barrier = warp.cta.barriers[id];
  uint32_t fresh = warp.exec & ~warp.namedArrived;
  uint32_t &arrived = barrier.lanes[warp.index];
  if (fresh && warp.cta.hazards) {
    warp.cta.hazards->barriers.arriveNamed(warp, fresh, id, waits);
  }
  arrived |= fresh;
  if (waits) {
    warp.namedArrived |= fresh;
    forLanes(fresh, [&](unsigned lane) {
      warp.namedGeneration[lane] = barrier.generation;
    });
  }
  if (arrived == 0 || (warp.live & ~arrived) != 0) {
    return true;
  }
  arrived = 0;
  return countWarp(warp, id, count, waits, step);
}

/// barrier.sync and barrier.arrive without .aligned: the lanes of a warp may
/// come one by one, from several places.
Step threadBarrier(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t id = 0;
  uint32_t count = 0;
  if (!readBarrier(warp, inst.slots[0], inst.slots[1], id, count)) {
    return Step::Fault;
  }
  bool waits = Barrier(inst.aux) == Barrier::Sync;
  if (!arriveLanes(warp, id, count, waits, step) || !waits) {
    return step;
  }
  bool leaves = leaveOthers(warp);
  bool isComplete = true;
  forLanes(warp.exec, [&](unsigned lane) {
    isComplete &=
        warp.namedGeneration[lane] != warp.cta.barriers[id].generation;
  });
  if (!isComplete) {
    return warp.block(Wait::Kind::NamedBarrier, id);
  }
  warp.namedArrived &= ~warp.exec;
  if (warp.cta.hazards) {
    warp.cta.hazards->barriers.leaveNamed(warp);
  }
  step = warp.pass(Wait::Kind::NamedBarrier, id);
  warp.now.pc += leaves;
  return leaves ? Step::Jump : step;
}

enum class Vote : uint64_t { Count, And, Or };

void writeVotes(Warp &warp, const Inst &inst, const NamedBarrier &barrier) {
  auto [votes, voters] = barrier.result;
  Vote vote = Vote(inst.aux);
  if (vote == Vote::Count) {
    uint32_t results[kLanes];
    std::fill_n(results, kLanes, votes);
    store(warp, inst.slots[0], results);
    return;
  }
  bool result = vote == Vote::And ? votes == voters : votes != 0;
  warp.writePredicate(inst.slots[0], result ? kAllLanes : 0);
}

/// bar.red: counts the threads whose predicate holds, or says if all or any do.
/// Slots: d, barrier, predicate, perhaps threads. Inst::aux: a Vote.
Step reducingBarrier(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t id = 0;
  uint32_t count = 0;
  if (!warp.gather(kAllLanes, Rule::WarpDivergent, step)) {
    return step;
  }
  if (!readBarrier(warp, inst.slots[1], inst.slots[3], id, count)) {
    return Step::Fault;
  }
  NamedBarrier &barrier = warp.cta.barriers[id];
  if (!warp.now.arrived) {
    if (barrier.arrived == 0) {
      barrier.votes = barrier.voters = 0;
    }
    uint32_t holds = warp.readPredicate(inst.slots[2], inst.negated);
    barrier.votes += uint32_t(__builtin_popcount(holds & warp.exec));
    barrier.voters += uint32_t(__builtin_popcount(warp.exec));
    if (!arriveAt(warp, id, count, /*waits=*/true, step)) {
      return step;
    }
    if (barrier.arrived == 0) {
      barrier.result = {barrier.votes, barrier.voters};
    }
  }
  if (leaveBarrier(warp, id, step)) {
    writeVotes(warp, inst, barrier);
  }
  return step;
}

/// d, barrier, perhaps threads, predicate.
bool finishReducing(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, const Match &,
                    Inst &inst) {
  const auto &operands = instruction.operands;
  bool counts = Vote(inst.aux) == Vote::Count;
  return decoder.countOperands(instruction, 3, 4) &&
         decoder.decodeDestination(operands[0], counts ? 4 : 0,
                                   inst.slots[0]) &&
         decoder.decodeSource(operands[1], 4, inst.slots[1]) &&
         decoder.decodePredicate(operands.back(), inst.slots[2],
                                 inst.negated) &&
         (operands.size() == 3 ||
          decoder.decodeSource(operands[2], 4, inst.slots[3]));
}

void addReductions(Rows &rows) {
  for (const char *barrier :
       {"bar.red", "bar.cta.red", "barrier.red", "barrier.cta.red"}) {
    auto row = [&](const char *op, Vote vote) {
      rows.push_back({keep(std::string(barrier) + op), "*", reducingBarrier,
                      finishReducing, uint64_t(vote)});
    };
    row(".popc[.aligned].u32", Vote::Count);
    row(".and[.aligned].pred", Vote::And);
    row(".or[.aligned].pred", Vote::Or);
  }
}

} // namespace

void attn::sim::addNamedBarrierRows(Rows &rows) {
  constexpr uint64_t arrive = uint64_t(Barrier::Arrive);
  rows.insert(
      rows.end(),
      {{"bar[.cta].sync", "4 ?4", namedBarrier},
       {"bar[.cta].arrive", "4 4", namedBarrier, nullptr, arrive},
       {"barrier[.cta].sync.aligned", "4 ?4", namedBarrier},
       {"barrier[.cta].arrive.aligned", "4 4", namedBarrier, nullptr, arrive},
       {"barrier[.cta].sync", "4 ?4", threadBarrier},
       {"barrier[.cta].arrive", "4 4", threadBarrier, nullptr, arrive}});
  addReductions(rows);
}
