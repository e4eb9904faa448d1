// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, exits, fences, setmaxnreg, and instructions without an effect.

#include "core/cta.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/scope.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// Lets the lanes `taken` continue at `target`.
Step jump(Warp &warp, uint32_t taken, uint32_t target) {
  if (taken == warp.now.lanes) {
    warp.now.pc = target;
    return Step::Jump;
  }
  if (taken == 0) {
    return Step::Next;
  }
  LaneGroup other;
  other.pc = target;
  other.lanes = taken;
  warp.others.push_back(other);
  warp.now.lanes &= ~taken;
  ++warp.now.pc;
  return Step::Jump;
}

/// Jumps to a target for each lane.
Step jumpEach(Warp &warp, const uint32_t *targets, uint32_t taken) {
  uint32_t left = taken;
  while (left) {
    uint32_t target = targets[__builtin_ctz(left)];
    LaneGroup other;
    other.pc = target;
    forLanes(left, [&](unsigned lane) {
      other.lanes |= targets[lane] == target ? 1u << lane : 0;
    });
    left &= ~other.lanes;
    warp.others.push_back(other);
  }
  warp.now.lanes &= ~taken;
  ++warp.now.pc;
  if (warp.now.lanes == 0) {
    warp.now = warp.others.back();
    warp.others.pop_back();
  }
  return Step::Jump;
}

Step branch(Warp &warp, const Inst &inst) {
  return jump(warp, warp.exec, uint32_t(inst.imm));
}

Step branchUniform(Warp &warp, const Inst &inst) {
  if (warp.exec != warp.now.lanes) {
    return warp.fault(Rule::WarpDivergent,
                      "bra.uni, but only some of the lanes branch");
  }
  return jump(warp, warp.exec, uint32_t(inst.imm));
}

bool finishBranch(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &, Inst &inst) {
  uint32_t target = 0;
  if (!decoder.countOperands(instruction, 1, 1) ||
      !decoder.decodeLabel(instruction.operands[0], target)) {
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
  return jumpEach(warp, targets, warp.exec);
}

bool finishIndexed(OperandDecoder &decoder, const ptx::Instruction &instruction,
                   const Match &, Inst &inst) {
  return decoder.countOperands(instruction, 2, 2) &&
         decoder.decodeSource(instruction.operands[0], 4, inst.slots[0]) &&
         decoder.decodeBranchTargets(instruction.operands[1], inst);
}

Step leave(Warp &, const Inst &) { return Step::Exit; }

Step trap(Warp &warp, const Inst &) { return warp.fault("trap"); }

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

bool finishSetMax(OperandDecoder &decoder, const ptx::Instruction &instruction,
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

/// The core executes memory accesses in order: fences only matter for hazards.
Step fence(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->knowledge.fence(warp, Scope(inst.aux >> kScopeShift),
                                      inst.aux & kAcquires,
                                      inst.aux & kReleases);
  }
  return Step::Next;
}

bool finishFence(OperandDecoder &, const ptx::Instruction &, const Match &match,
                 Inst &inst) {
  inst.aux = uint64_t(scopeOf(match)) << kScopeShift |
             (match.has(".release") ? 0 : kAcquires) |
             (match.has(".acquire") ? 0 : kReleases);
  return true;
}

Step proxyFence(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->knowledge.proxyFence(warp, inst.aux & kShared,
                                           inst.aux & kGlobal);
  }
  return Step::Next;
}

bool finishProxyFence(OperandDecoder &, const ptx::Instruction &,
                      const Match &match, Inst &inst) {
  bool global = match.has(".global");
  bool shared = match.has(".shared::cta") || match.has(".shared::cluster");
  inst.aux = (global ? 0 : kShared) | (shared ? 0 : kGlobal);
  return true;
}

/// A fence of shared memory between the proxies, and of threads.
Step orderedProxyFence(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards && (inst.aux & kReleases)) {
    warp.cta.hazards->knowledge.proxyFence(warp, /*shared=*/true, false);
  }
  fence(warp, inst);
  if (warp.cta.hazards && (inst.aux & kAcquires)) {
    warp.cta.hazards->knowledge.proxyFence(warp, /*shared=*/true, false);
  }
  return Step::Next;
}

Step initFence(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->mbarriers.initFence(warp);
  }
  return Step::Next;
}

/// One launch runs at a time: the wait only matters for hazards.
Step awaitPrevious(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->knowledge.awaitPrevious(warp);
    warp.cta.hazards->history.grid.awaitsPrevious = true;
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
       {"membar.proxy.async[.global|.shared::cta|.shared::cluster]", "",
        proxyFence, finishProxyFence},
       {"fence.acquire.sync_restrict::shared::cluster.cluster", "", fence,
        finishFence},
       {"fence.release.sync_restrict::shared::cta.cluster", "", fence,
        finishFence},
       {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster"
        ".cluster",
        "", orderedProxyFence, finishFence},
       {"fence.proxy.async::generic.release.sync_restrict::shared::cta"
        ".cluster",
        "", orderedProxyFence, finishFence},
       {"fence.proxy.alias", "", doNothing},
       {"membar.proxy.alias", "", doNothing},
       {"griddepcontrol.wait", "", awaitPrevious},
       {"griddepcontrol.launch_dependents", "", doNothing}});
}

} // namespace

void attn::sim::addControlRows(Rows &rows) {
  rows.insert(rows.end(), {{"bra", "*", branch, finishBranch},
                           {"bra.uni", "*", branchUniform, finishBranch},
                           {"brx.idx[.uni]", "*", branchIndexed, finishIndexed},
                           {"ret[.uni]", "", leave},
                           {"exit", "", leave},
                           {"trap", "", trap},
                           {"brkpt", "", trap},
                           {"nanosleep.u32", "4", doNothing},
                           {"setmaxnreg.inc.sync.aligned.u32", "i",
                            setMaxRegisters, finishSetMax, 1},
                           {"setmaxnreg.dec.sync.aligned.u32", "i",
                            setMaxRegisters, finishSetMax, 0}});
  addFences(rows);
}
