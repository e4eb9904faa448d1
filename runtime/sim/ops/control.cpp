// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, ends, named barriers, fences, setmaxnreg, and what has no effect.

#include "core/cta.h"
#include "ops/lanes.h"
#include "ops/scope.h"

#include <algorithm>

using namespace attn::sim;

namespace {

Step branch(Warp &warp, const Inst &inst) {
  return warp.jump(warp.exec, uint32_t(inst.imm));
}

Step branchUniform(Warp &warp, const Inst &inst) {
  if (warp.exec != warp.now.lanes) {
    return warp.fault(Rule::WarpDivergent,
                      "bra.uni, but only some of the lanes branch");
  }
  return warp.jump(warp.exec, uint32_t(inst.imm));
}

bool finishBranch(Decoder &decoder, const ptx::Instruction &instruction,
                  const Match &, Inst &inst) {
  uint32_t target = 0;
  if (!decoder.countOperands(instruction, 1, 1) ||
      !decoder.label(instruction.operands[0], target)) {
    return false;
  }
  inst.imm = target;
  return true;
}

Step branchIndexed(Warp &warp, const Inst &inst) {
  uint32_t targets[kLanes] = {};
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint32_t index = warp.word(inst.slots[0])[lane];
    if (index >= inst.listSize) {
      return warp.fault("index " + std::to_string(index) + " of " +
                            std::to_string(inst.listSize) + " branch targets",
                        lane);
    }
    targets[lane] = warp.cta.program.lists[inst.list + index];
  }
  return warp.jumpEach(targets, warp.exec);
}

bool finishIndexed(Decoder &decoder, const ptx::Instruction &instruction,
                   const Match &, Inst &inst) {
  return decoder.countOperands(instruction, 2, 2) &&
         decoder.source(instruction.operands[0], 4, inst.slots[0]) &&
         decoder.branchTargets(instruction.operands[1], inst);
}

Step leave(Warp &, const Inst &) { return Step::Exit; }

Step trap(Warp &warp, const Inst &) { return warp.fault("trap"); }

Step nothing(Warp &, const Inst &) { return Step::Next; }

/// Inst::aux of the named barriers.
enum class Barrier : uint64_t { Sync, Arrive };

/// Whether `warp` may arrive at a barrier of `count` threads; `step` is what
/// becomes of it if not.
bool mayArrive(Warp &warp, const NamedBarrier &barrier, uint32_t count,
               bool waits, Step &step) {
  uint32_t all = (warp.cta.threads + kLanes - 1) / kLanes * kLanes;
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
  // Hardware counts arrivals: a warp may arrive and then wait as well.
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
  count = (warp.cta.threads + kLanes - 1) / kLanes * kLanes;
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

/// The warp arrives and perhaps is to wait. False if it may not; `step` is what
/// becomes of it then.
bool arriveAt(Warp &warp, uint32_t id, uint32_t count, bool waits, Step &step) {
  NamedBarrier &barrier = warp.cta.barriers[id];
  uint64_t generation = barrier.generation;
  if (!mayArrive(warp, barrier, count, waits, step)) {
    return false;
  }
  HazardTracker *hazards = warp.cta.hazards;
  if (hazards) {
    hazards->arriveNamed(warp, id, waits);
  }
  arrive(warp, barrier, count, waits);
  bool completes = barrier.generation != generation;
  if (hazards && completes) {
    hazards->completeNamed(warp, id);
  }
  if (warp.cta.observer) {
    warp.cta.observer->onArrive(&warp, Wait::Kind::NamedBarrier, id, completes);
  }
  warp.now.arrived = waits;
  warp.now.generation = generation;
  return true;
}

/// Whether the barrier that the warp has arrived at is complete; `step` is what
/// becomes of the warp.
bool leaveBarrier(Warp &warp, uint32_t id, Step &step) {
  if (warp.now.generation == warp.cta.barriers[id].generation) {
    step = warp.block(Wait::Kind::NamedBarrier, id);
    return false;
  }
  warp.now.arrived = false;
  if (warp.cta.hazards) {
    warp.cta.hazards->leaveNamed(warp);
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
bool finishReducing(Decoder &decoder, const ptx::Instruction &instruction,
                    const Match &, Inst &inst) {
  const auto &operands = instruction.operands;
  bool counts = Vote(inst.aux) == Vote::Count;
  return decoder.countOperands(instruction, 3, 4) &&
         decoder.destination(operands[0], counts ? 4 : 0, inst.slots[0]) &&
         decoder.source(operands[1], 4, inst.slots[1]) &&
         decoder.predicate(operands.back(), inst.slots[2], inst.negated) &&
         (operands.size() == 3 ||
          decoder.source(operands[2], 4, inst.slots[3]));
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

/// bar.warp.sync.
Step warpBarrier(Warp &warp, const Inst &inst) {
  unsigned first = unsigned(__builtin_ctz(warp.exec));
  Step step = Step::Next;
  if (warp.gather(warp.word(inst.slots[0])[first], Rule::WarpMask, step) &&
      warp.cta.hazards) {
    warp.cta.hazards->syncLanes(warp, warp.exec);
  }
  return step;
}

/// A warpgroup's four warps all execute this.
Step setMaxRegisters(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!warp.gather(kAllLanes, Rule::WarpDivergent, step)) {
    return step;
  }
  uint32_t wanted = uint32_t(inst.imm);
  bool increase = inst.aux;
  switch (warp.cta.registers.request(warp, wanted, increase)) {
  case RegisterPool::Answer::Granted:
    ++warp.cta.changes;
    if (!increase && warp.cta.observer) {
      warp.cta.observer->onArrive(&warp, Wait::Kind::Registers, 0, true);
    }
    return increase ? warp.pass(Wait::Kind::Registers) : Step::Next;
  case RegisterPool::Answer::NotYet:
    return warp.block(Wait::Kind::Registers, 0, wanted * kLanes);
  case RegisterPool::Answer::Refused:
    break;
  }
  return Step::Fault;
}

bool finishSetMax(Decoder &decoder, const ptx::Instruction &instruction,
                  const Match &, Inst &inst) {
  bool good = inst.imm >= 24 && inst.imm <= 256 && inst.imm % 8 == 0;
  return good || decoder.fail(instruction.at,
                              "expected a multiple of 8 from 24 to 256");
}

/// Bits of Inst::aux of fences; the scope is above them.
constexpr uint64_t kAcquires = 1;
constexpr uint64_t kReleases = 2;
constexpr unsigned kScopeShift = 2;
constexpr uint64_t kShared = 1;
constexpr uint64_t kGlobal = 2;

/// The core keeps memory in order anyway: fences are for hazards only.
Step fence(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->fence(warp, Scope(inst.aux >> kScopeShift),
                            inst.aux & kAcquires, inst.aux & kReleases);
  }
  return Step::Next;
}

bool finishFence(Decoder &, const ptx::Instruction &, const Match &match,
                 Inst &inst) {
  inst.aux = uint64_t(scopeOf(match)) << kScopeShift |
             (match.has(".release") ? 0 : kAcquires) |
             (match.has(".acquire") ? 0 : kReleases);
  return true;
}

Step proxyFence(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->proxyFence(warp, inst.aux & kShared, inst.aux & kGlobal);
  }
  return Step::Next;
}

bool finishProxyFence(Decoder &, const ptx::Instruction &, const Match &match,
                      Inst &inst) {
  bool global = match.has(".global");
  bool shared = match.has(".shared::cta") || match.has(".shared::cluster");
  inst.aux = (global ? 0 : kShared) | (shared ? 0 : kGlobal);
  return true;
}

Step initFence(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->initFence(warp);
  }
  return Step::Next;
}

void addFences(Rows &rows) {
  rows.insert(
      rows.end(),
      {{"fence[.sc|.acq_rel|.acquire|.release]{.cta|.cluster|.gpu|.sys}", "",
        fence, finishFence},
       {"membar{.cta|.gl|.sys}", "", fence, finishFence},
       {"fence.mbarrier_init.release.cluster", "", initFence},
       {"fence.proxy.async[.global|.shared::cta|.shared::cluster]", "",
        proxyFence, finishProxyFence},
       {"fence.proxy.alias", "", nothing},
       {"griddepcontrol{.wait|.launch_dependents}", "", nothing}});
}

} // namespace

void attn::sim::addControlRows(Rows &rows) {
  constexpr uint64_t arrive = uint64_t(Barrier::Arrive);
  rows.insert(
      rows.end(),
      {{"bra", "*", branch, finishBranch},
       {"bra.uni", "*", branchUniform, finishBranch},
       {"brx.idx[.uni]", "*", branchIndexed, finishIndexed},
       {"ret[.uni]", "", leave},
       {"exit", "", leave},
       {"trap", "", trap},
       {"brkpt", "", trap},
       {"nanosleep.u32", "4", nothing},
       {"bar.sync", "4 ?4", namedBarrier},
       {"bar.cta.sync", "4 ?4", namedBarrier},
       {"barrier.sync.aligned", "4 ?4", namedBarrier},
       {"barrier.cta.sync.aligned", "4 ?4", namedBarrier},
       {"bar.arrive", "4 4", namedBarrier, nullptr, arrive},
       {"bar.cta.arrive", "4 4", namedBarrier, nullptr, arrive},
       {"barrier.arrive.aligned", "4 4", namedBarrier, nullptr, arrive},
       {"barrier.cta.arrive.aligned", "4 4", namedBarrier, nullptr, arrive},
       {"bar.warp.sync", "4", warpBarrier},
       {"setmaxnreg.inc.sync.aligned.u32", "i", setMaxRegisters, finishSetMax,
        1},
       {"setmaxnreg.dec.sync.aligned.u32", "i", setMaxRegisters, finishSetMax,
        0}});
  addReductions(rows);
  addFences(rows);
}
