// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/warp.h"

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

/// Registers start with a NaN that is easy to recognize.
static constexpr uint32_t kRegisterPoison = 0x7fbadbad;

Warp::Warp(Cta &cta, uint32_t index, uint32_t lanes)
    : cta(cta), index(index), live(lanes), registers(cta.program.registers),
      loads(cta.program.registers), words(cta.program.words, kRegisterPoison),
      predicates(cta.program.predicates, 0) {
  now.lanes = lanes;
}

bool Warp::mayRun() const {
  auto ready = [&](const LaneGroup &group) {
    return group.lanes && (!group.blocked || group.blockedAt != cta.changes);
  };
  return ready(now) || std::any_of(others.begin(), others.end(), ready);
}

/// Merges groups that have met and selects the one to run as `now`. Returns
/// false if none can run.
bool Warp::select() {
  if (others.empty()) {
    mergeAt = kNone;
    if (now.lanes == 0) {
      return false;
    }
    now.blocked &= now.blockedAt == cta.changes;
    return !now.blocked;
  }
  if (now.lanes) {
    others.push_back(now);
  }
  std::sort(others.begin(), others.end(),
            [](const LaneGroup &a, const LaneGroup &b) { return a.pc < b.pc; });
  size_t kept = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    if (i > 0 && others[kept].pc == others[i].pc) {
      others[kept].lanes |= others[i].lanes;
      others[kept].blocked = false;
      continue;
    }
    kept += i > 0 ? 1 : 0;
    others[kept] = others[i];
  }
  others.resize(kept + 1);
  mergeAt = kNone;
  for (size_t i = 0; i < others.size(); ++i) {
    LaneGroup &group = others[i];
    group.blocked &= group.blockedAt == cta.changes;
    if (group.blocked) {
      continue;
    }
    mergeAt = i + 1 < others.size() ? others[i + 1].pc : kNone;
    now = group;
    others.erase(others.begin() + int64_t(i));
    return true;
  }
  now = others.back();
  others.pop_back();
  return false;
}

RunResult Warp::run(uint64_t &quantum) {
  const Inst *code = cta.program.code.data();
  if (live == 0 || !select()) {
    return live ? RunResult::Blocked : RunResult::Done;
  }
  while (quantum) {
    const Inst &inst = code[now.pc];
    exec = now.lanes;
    if (inst.guard != kNone) {
      exec &= readPredicate(inst.guard, inst.guardNegated);
    }
    --quantum;
    ++steps;
    if (inst.watch != kNone && !registers.check(*this, inst)) {
      return RunResult::Fault;
    }
    Step step = exec || inst.always ? inst.run(*this, inst) : Step::Next;
    switch (step) {
    case Step::Next:
      if (++now.pc != mergeAt) {
        continue;
      }
      break;
    case Step::Jump:
      if (others.empty()) {
        continue;
      }
      break;
    case Step::Blocked:
      now.blocked = true;
      now.blockedAt = cta.changes;
      break;
    case Step::Exit:
      exitLanes();
      if (live == 0) {
        if (cta.observer) {
          cta.observer->onExit(*this);
        }
        return RunResult::Done;
      }
      if (now.lanes == 0) {
        now = others.back();
        others.pop_back();
      }
      break;
    case Step::Fault:
      return RunResult::Fault;
    }
    if (!select()) {
      return RunResult::Blocked;
    }
  }
  return RunResult::Runnable;
}

void Warp::exitLanes() {
  uint32_t arrived = 0;
  forLanes(exec & clusterArrived, [&](unsigned lane) {
    arrived += clusterGeneration[lane] == cta.cluster.barrier.generation;
  });
  cta.cluster.leave(uint32_t(__builtin_popcount(exec)), arrived);
  live &= ~exec;
  now.lanes &= ~exec;
  ++now.pc;
  ++cta.changes;
}

Step Warp::fault(const std::string &message, unsigned lane) {
  cta.reports.fail(index, now.pc, lane, message);
  return Step::Fault;
}

Step Warp::fault(Rule rule, const std::string &message, unsigned lane) {
  return fault(message + ruleSuffix(rule), lane);
}

bool Warp::report(Rule rule, const std::string &message, unsigned lane) {
  return cta.reports.report(rule, index, now.pc, message, lane);
}

Step Warp::block(Wait::Kind kind, uint32_t object, uint32_t value) {
  now.wait = {kind, object, value};
  if (cta.observer) {
    cta.observer->onWait(*this, now.wait);
  }
  return Step::Blocked;
}

Step Warp::pass(Wait::Kind kind, uint32_t object, uint32_t value) {
  if (cta.observer) {
    cta.observer->onPass(*this, {kind, object, value});
  }
  return Step::Next;
}

bool Warp::givesUp() { return gaveUp.insert(now.pc).second || cta.chance(2); }

bool Warp::gather(uint32_t wanted, Rule rule, Step &step) {
  uint32_t missing = wanted & live & ~exec;
  if (missing == 0) {
    return true;
  }
  if (missing & now.lanes) {
    step = fault(rule, "its predicate is false in this lane",
                 unsigned(__builtin_ctz(missing & now.lanes)));
  } else {
    step = block(Wait::Kind::Convergence, uint32_t(rule), wanted & live);
  }
  return false;
}
