// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, ends, named barriers, fences, setmaxnreg, and what has no effect.

#include "core/cta.h"
#include "ops/lanes.h"

#include <algorithm>

using namespace attn::sim;

namespace {

Step branch(Warp &warp, const Inst &inst) {
  return warp.jump(warp.exec, uint32_t(inst.imm));
}

Step branchUniform(Warp &warp, const Inst &inst) {
  if (warp.exec != warp.now.lanes) {
    return warp.fault("bra.uni, but only some of the lanes branch");
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

/// Fences order memory that this core keeps in order anyway.
Step nothing(Warp &, const Inst &) { return Step::Next; }

/// Waits until all lanes of `wanted` that live are here.
bool converge(Warp &warp, uint32_t wanted, Step &step) {
  if (warp.isConverged(wanted)) {
    return true;
  }
  step = warp.block(Wait::Kind::Convergence, 0, wanted & warp.live);
  return false;
}

/// Inst::aux of the named barriers.
enum class Barrier : uint64_t { Sync, Arrive };

/// One warp arrives. Returns "" or what is wrong.
std::string arrive(Cta &cta, NamedBarrier &barrier, uint32_t count) {
  uint32_t all = (cta.threads + kLanes - 1) / kLanes * kLanes;
  if (count % kLanes != 0 || count == 0 || count > all) {
    return "expected a multiple of 32 up to " + std::to_string(all) +
           " threads, got " + std::to_string(count);
  }
  if (barrier.arrived != 0 && barrier.expected != count) {
    return "expected " + std::to_string(barrier.expected) +
           " threads as the first to arrive, got " + std::to_string(count);
  }
  // Hardware counts arrivals: a warp may arrive and then wait as well.
  barrier.expected = count;
  barrier.arrived += kLanes;
  ++cta.changes;
  if (barrier.arrived == count) {
    barrier.arrived = 0;
    ++barrier.generation;
  }
  return "";
}

Step namedBarrier(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!converge(warp, kAllLanes, step)) {
    return step;
  }
  unsigned lane = unsigned(__builtin_ctz(warp.exec));
  uint32_t id = warp.word(inst.slots[0])[lane];
  uint32_t count = inst.slots[1] == kNone
                       ? (warp.cta.threads + kLanes - 1) / kLanes * kLanes
                       : warp.word(inst.slots[1])[lane];
  if (id >= kNamedBarriers) {
    return warp.fault("expected barrier 0 to 15, got " + std::to_string(id));
  }
  NamedBarrier &barrier = warp.cta.barriers[id];
  if (!warp.now.arrived) {
    uint64_t generation = barrier.generation;
    std::string problem = arrive(warp.cta, barrier, count);
    if (!problem.empty()) {
      return warp.fault("barrier " + std::to_string(id) + ": " + problem);
    }
    if (Barrier(inst.aux) == Barrier::Arrive) {
      return Step::Next;
    }
    warp.now.arrived = true;
    warp.now.generation = generation;
  }
  if (warp.now.generation == barrier.generation) {
    return warp.block(Wait::Kind::NamedBarrier, id);
  }
  warp.now.arrived = false;
  return Step::Next;
}

enum class Vote : uint64_t { Count, And, Or };

/// bar.red: counts the threads whose predicate holds, or says if all or any do.
/// Slots: d, barrier, predicate, perhaps threads. Inst::aux: a Vote.
Step reducingBarrier(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!converge(warp, kAllLanes, step)) {
    return step;
  }
  unsigned lane = unsigned(__builtin_ctz(warp.exec));
  uint32_t id = warp.word(inst.slots[1])[lane];
  uint32_t count = inst.slots[3] == kNone
                       ? (warp.cta.threads + kLanes - 1) / kLanes * kLanes
                       : warp.word(inst.slots[3])[lane];
  if (id >= kNamedBarriers) {
    return warp.fault("expected barrier 0 to 15, got " + std::to_string(id));
  }
  NamedBarrier &barrier = warp.cta.barriers[id];
  if (!warp.now.arrived) {
    warp.now.arrived = true;
    warp.now.generation = barrier.generation;
    uint32_t holds = warp.readPredicate(inst.slots[2], inst.negated);
    if (barrier.arrived == 0) {
      barrier.votes = barrier.voters = 0;
    }
    barrier.votes += uint32_t(__builtin_popcount(holds & warp.exec));
    barrier.voters += uint32_t(__builtin_popcount(warp.exec));
    std::string problem = arrive(warp.cta, barrier, count);
    if (!problem.empty()) {
      return warp.fault("barrier " + std::to_string(id) + ": " + problem);
    }
    if (barrier.arrived == 0) {
      barrier.result = {barrier.votes, barrier.voters};
    }
  }
  if (warp.now.generation == barrier.generation) {
    return warp.block(Wait::Kind::NamedBarrier, id);
  }
  warp.now.arrived = false;
  Vote vote = Vote(inst.aux);
  if (vote == Vote::Count) {
    uint32_t results[kLanes];
    std::fill_n(results, kLanes, barrier.result.first);
    store(warp, inst.slots[0], results);
    return Step::Next;
  }
  bool result = vote == Vote::And
                    ? barrier.result.first == barrier.result.second
                    : barrier.result.first != 0;
  warp.writePredicate(inst.slots[0], result ? kAllLanes : 0);
  return Step::Next;
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
  converge(warp, warp.word(inst.slots[0])[first], step);
  return step;
}

/// Registers move by warp: a warpgroup's four warps all execute this.
Step setMaxRegisters(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!converge(warp, kAllLanes, step)) {
    return step;
  }
  Cta &cta = warp.cta;
  uint32_t &have = cta.warpRegisters[warp.index];
  uint32_t wanted = uint32_t(inst.imm);
  bool increase = inst.aux;
  if (increase ? wanted < have : wanted > have) {
    return warp.fault(std::string("expected a count ") +
                      (increase ? "of at least " : "of at most ") +
                      std::to_string(have));
  }
  if (!increase) {
    cta.freeRegisters += uint64_t(have - wanted) * kLanes;
    ++cta.changes;
  } else if (uint64_t(wanted - have) * kLanes > cta.freeRegisters) {
    return warp.block(Wait::Kind::Registers, 0, (wanted - have) * kLanes);
  } else {
    cta.freeRegisters -= uint64_t(wanted - have) * kLanes;
  }
  have = wanted;
  return Step::Next;
}

bool finishSetMax(Decoder &decoder, const ptx::Instruction &instruction,
                  const Match &, Inst &inst) {
  bool good = inst.imm >= 24 && inst.imm <= 256 && inst.imm % 8 == 0;
  return good || decoder.fail(instruction.at,
                              "expected a multiple of 8 from 24 to 256");
}

void addFences(Rows &rows) {
  for (const char *pattern :
       {"fence[.sc|.acq_rel|.acquire|.release]{.cta|.cluster|.gpu|.sys}",
        "membar{.cta|.gl|.sys}", "fence.mbarrier_init.release.cluster",
        "fence.proxy.async[.global|.shared::cta|.shared::cluster]",
        "fence.proxy.alias", "griddepcontrol{.wait|.launch_dependents}"}) {
    rows.push_back({pattern, "", nothing});
  }
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
