// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/register_tracker.h"

#include "core/cta.h"

using namespace attn::sim;

RegisterTracker::RegisterTracker(const RegisterPlan &plan)
    : plan(plan), states(plan.names.size()) {
  for (size_t i = 0; i < states.size(); ++i) {
    states[i].written = plan.startsUnwritten[i] ? 0 : kAllLanes;
  }
}

std::string RegisterTracker::quote(uint32_t number) const {
  return "'" + std::string(plan.names[number]) + "'";
}

RegisterHolder &RegisterTracker::holder(const Inst &inst, uint32_t position) {
  return states[numberOf(inst, position)].holder;
}

uint32_t RegisterTracker::numberOf(const Inst &inst, uint32_t position) const {
  return plan.numbersIn(plan.watches[inst.watch].writes)[position];
}

bool RegisterTracker::check(Warp &warp, const Inst &inst) {
  const RegisterWatch &watch = plan.watches[inst.watch];
  if (!checkWritten(warp, watch)) {
    return false;
  }
  if (watch.usesLoads && !warp.loads.check(warp, watch)) {
    return false;
  }
  if (watch.kind == RegisterUse::Kind::Wgmma || warp.exec == 0) {
    return true;
  }
  const uint32_t *reads = plan.numbersIn(watch.reads);
  bool copies = watch.kind == RegisterUse::Kind::Copy &&
                watch.reads.count == 1 && watch.writes.count == 1 &&
                warp.exec == kAllLanes && isAccumulating(states[*reads]);
  if (!checkReads(warp, watch, copies) || !checkWrites(warp, watch, copies)) {
    return false;
  }
  noteWrites(warp, watch);
  if (copies) {
    carry(warp, inst, *reads, *plan.numbersIn(watch.writes));
  }
  return true;
}

bool RegisterTracker::isWritten(Warp &warp, uint32_t number, uint32_t lanes) {
  uint32_t missing = lanes & ~states[number].written;
  return missing == 0 ||
         warp.report(Rule::UninitRegister,
                     quote(number) + " is read before it is written",
                     unsigned(__builtin_ctz(missing)));
}

/// Moves may read unwritten registers: compilers copy values that they do not
/// use.
bool RegisterTracker::checkWritten(Warp &warp, const RegisterWatch &watch) {
  if (watch.guard != kNone && !isWritten(warp, watch.guard, warp.now.lanes)) {
    return false;
  }
  if (isMove(watch.kind)) {
    return true;
  }
  const uint32_t *reads = plan.numbersIn(watch.unwritten);
  for (uint32_t i = 0; i < watch.unwritten.count; ++i) {
    if (!isWritten(warp, reads[i], warp.exec)) {
      return false;
    }
  }
  return true;
}

static std::string wgmmaAt(const Warp &warp, uint32_t pc) {
  return "the wgmma of " + warp.cta.reports.describeLine(pc);
}

bool RegisterTracker::checkReads(Warp &warp, const RegisterWatch &watch,
                                 bool copies) {
  const uint32_t *reads = plan.numbersIn(watch.reads);
  for (uint32_t i = 0; i < watch.reads.count; ++i) {
    State &state = states[reads[i]];
    state.used = fences;
    if (!isAccumulating(state)) {
      continue;
    }
    std::string what = quote(reads[i]) + " is an accumulator of " +
                       wgmmaAt(warp, state.accumulatesAt);
    bool goesOn =
        copies ? warp.report(Rule::WgmmaCopy,
                             what + " and is copied before a wgmma.wait_group "
                                    "for it: ptxas waits here")
               : warp.report(Rule::WgmmaPending,
                             what + " and is read before a wgmma.wait_group "
                                    "for it");
    if (!goesOn) {
      return false;
    }
  }
  return true;
}

bool RegisterTracker::checkWrites(Warp &warp, const RegisterWatch &watch,
                                  bool copies) {
  const uint32_t *writes = plan.numbersIn(watch.writes);
  for (uint32_t i = 0; i < watch.writes.count; ++i) {
    const State &state = states[writes[i]];
    bool accumulates = isAccumulating(state) && !copies;
    if (!accumulates && !isFeeding(state)) {
      continue;
    }
    if (!warp.report(Rule::WgmmaPending,
                     quote(writes[i]) +
                         (accumulates ? " is an accumulator of "
                                      : " is a part of A of ") +
                         wgmmaAt(warp, accumulates ? state.accumulatesAt
                                                   : state.feedsAt) +
                         " and is written before a wgmma.wait_group for it")) {
      return false;
    }
  }
  return true;
}

void RegisterTracker::noteWrites(const Warp &warp, const RegisterWatch &watch) {
  uint32_t written = watch.movesUnwritten ? 0 : kAllLanes;
  const uint32_t *sources = plan.numbersIn(watch.unwritten);
  for (uint32_t i = 0; i < watch.unwritten.count; ++i) {
    written |= states[sources[i]].written;
  }
  const uint32_t *writes = plan.numbersIn(watch.writes);
  for (uint32_t i = 0; i < watch.writes.count; ++i) {
    State &state = states[writes[i]];
    state.written = (state.written & ~warp.exec) | (written & warp.exec);
    state.used = state.changed = fences;
  }
}

/// The value arrives in the copy as well.
void RegisterTracker::carry(Warp &warp, const Inst &inst, uint32_t from,
                            uint32_t to) {
  const State &source = states[from];
  State &copy = states[to];
  copy.accumulates = source.accumulates;
  copy.accumulatesAt = source.accumulatesAt;
  copy.place = source.place;
  copy.shape = source.shape;
  copy.holder = source.holder;
  if (source.holder.accumulators) {
    source.holder.accumulators->copies.push_back(
        {warp.index % 4, to, inst.slots[0]});
  }
}

bool RegisterTracker::checkWgmma(Warp &warp, const Inst &inst, bool accumulates,
                                 uint32_t shape) {
  if (fences == 0 &&
      !warp.report(Rule::WgmmaFence, "no wgmma.fence before the first wgmma")) {
    return false;
  }
  const RegisterWatch &watch = plan.watches[inst.watch];
  const uint32_t *fragment = plan.numbersIn(watch.fragment);
  for (uint32_t i = 0; i < watch.fragment.count; ++i) {
    if (!checkFragment(warp, fragment[i])) {
      return false;
    }
  }
  const uint32_t *registers = plan.numbersIn(watch.writes);
  bool chained = isAccumulating(states[registers[0]]);
  for (uint32_t i = 0; i < watch.writes.count; ++i) {
    if (!checkAccumulator(warp, registers[i], i, shape, chained)) {
      return false;
    }
    if (accumulates && !isWritten(warp, registers[i], kAllLanes)) {
      return false;
    }
  }
  return true;
}

bool RegisterTracker::checkFragment(Warp &warp, uint32_t number) {
  const State &state = states[number];
  if (isAccumulating(state)) {
    return warp.report(Rule::WgmmaPending,
                       quote(number) + " of A is an accumulator of " +
                           wgmmaAt(warp, state.accumulatesAt) +
                           " and is read before a wgmma.wait_group for it");
  }
  return state.changed != fences ||
         warp.report(Rule::WgmmaFence, quote(number) +
                                           " of A was written after the last "
                                           "wgmma.fence");
}

/// All accumulators must be in the same state, and one in flight must have the
/// same position in an operation of the same shape.
bool RegisterTracker::checkAccumulator(Warp &warp, uint32_t number,
                                       uint32_t place, uint32_t shape,
                                       bool chained) {
  const State &state = states[number];
  if (isFeeding(state)) {
    return warp.report(Rule::WgmmaPending,
                       quote(number) + " is a part of A of " +
                           wgmmaAt(warp, state.feedsAt) +
                           " and is written before a wgmma.wait_group for it");
  }
  bool pending = isAccumulating(state);
  if (pending != chained ||
      (pending && (state.place != place || state.shape != shape))) {
    return warp.report(Rule::WgmmaPending,
                       quote(number) + ", accumulator " +
                           std::to_string(place) +
                           ", is in flight otherwise than the wgmma before "
                           "left it: another shape or other registers");
  }
  return state.used != fences ||
         warp.report(Rule::WgmmaFence,
                     quote(number) + " was used after the last wgmma.fence");
}

void RegisterTracker::issue(const Inst &inst, uint32_t pc, uint64_t number,
                            uint32_t shape) {
  const RegisterWatch &watch = plan.watches[inst.watch];
  const uint32_t *fragment = plan.numbersIn(watch.fragment);
  for (uint32_t i = 0; i < watch.fragment.count; ++i) {
    states[fragment[i]].feeds = number;
    states[fragment[i]].feedsAt = pc;
  }
  const uint32_t *registers = plan.numbersIn(watch.writes);
  for (uint32_t i = 0; i < watch.writes.count; ++i) {
    State &state = states[registers[i]];
    state.written = kAllLanes;
    state.accumulates = number;
    state.accumulatesAt = pc;
    state.place = i;
    state.shape = shape;
  }
}
