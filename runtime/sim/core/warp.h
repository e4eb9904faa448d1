// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp: registers, and groups of lanes, each at one program counter. The
// group with the lowest counter runs, so that diverged lanes meet again; while
// a group is blocked, the others run.

#ifndef ATTN_SIM_CORE_WARP_H
#define ATTN_SIM_CORE_WARP_H

#include "core/program.h"
#include "hazards/load_tracker.h"
#include "hazards/register_tracker.h"
#include "hazards/rules.h"

#include <set>

namespace attn::sim {

class Cta;

/// The event that a group waits for, for reports.
struct Wait {
  enum class Kind : uint8_t {
    None,
    Convergence,
    NamedBarrier,
    ClusterBarrier,
    Mbarrier,
    Wgmma,
    BulkGroup,
    AsyncGroup,
    Registers,
    TensorMemory
  };
  Kind kind = Kind::None;
  /// A barrier's number or address; for Convergence, the rule that missing
  /// lanes break.
  uint32_t object = 0;
  /// The expected parity, the number of operations that may be pending, or
  /// columns.
  uint32_t value = 0;
};

struct LaneGroup {
  uint32_t pc = 0;
  uint32_t lanes = 0;
  bool blocked = false;
  /// The CTA's change count when it blocked.
  uint64_t blockedAt = 0;
  Wait wait;
  /// Whether it has arrived at a named barrier in this generation.
  bool arrived = false;
  uint64_t generation = 0;
};

enum class RunResult : uint8_t { Runnable, Blocked, Done, Fault };

class Warp {
public:
  Warp(Cta &cta, uint32_t index, uint32_t lanes);

  /// Executes at most `quantum` instructions, and subtracts those executed from
  /// it.
  RunResult run(uint64_t &quantum);
  bool isDone() const { return live == 0; }
  /// Whether anything has changed since all of its groups blocked.
  bool mayRun() const;

  template <typename Word> Word *at(uint32_t slot) {
    return reinterpret_cast<Word *>(words.data() + slot);
  }
  uint32_t *word(uint32_t slot) { return words.data() + slot; }
  uint64_t *wide(uint32_t slot) { return at<uint64_t>(slot); }
  uint32_t readPredicate(uint32_t slot, bool negated = false) const {
    return negated ? ~predicates[slot] : predicates[slot];
  }
  void writePredicate(uint32_t slot, uint32_t lanes) {
    predicates[slot] = (predicates[slot] & ~exec) | (lanes & exec);
  }
  void setPredicate(uint32_t slot, uint32_t lanes) { predicates[slot] = lanes; }

  /// Reports an error of the current instruction, in `lane` if only one lane is
  /// affected.
  Step fault(const std::string &message, unsigned lane = kLanes);
  /// Reports a violation of a rule after which execution cannot continue.
  Step fault(Rule rule, const std::string &message, unsigned lane = kLanes);
  /// Reports a violation of a rule. Returns whether execution continues.
  bool report(Rule rule, const std::string &message, unsigned lane = kLanes);
  Step block(Wait::Kind kind, uint32_t object = 0, uint32_t value = 0);
  /// Continues after a possible wait.
  Step pass(Wait::Kind kind, uint32_t object = 0, uint32_t value = 0);
  /// Waits until all live lanes of `wanted` execute this instruction. Otherwise
  /// `step` is set to the outcome; lanes that never arrive break `rule`.
  bool gather(uint32_t wanted, Rule rule, Step &step);
  /// Whether a try_wait returns false instead of suspending: each does the
  /// first time, and others at random.
  bool givesUp();

  Cta &cta;
  const uint32_t index;
  /// Lanes that have not exited.
  uint32_t live;
  /// Lanes that execute the current instruction.
  uint32_t exec = 0;
  /// The lanes that run, and groups at other program counters.
  LaneGroup now;
  std::vector<LaneGroup> others;
  RegisterTracker registers;
  LoadTracker loads;
  /// Instructions executed.
  uint64_t steps = 0;
  /// Lanes that have arrived at the cluster's barrier without waiting, and the
  /// barrier's generation at that time, by lane.
  uint32_t clusterArrived = 0;
  uint64_t clusterGeneration[kLanes] = {};
  /// Lanes that wait one by one at a named barrier, and its generation when
  /// they arrived, by lane.
  uint32_t namedArrived = 0;
  uint64_t namedGeneration[kLanes] = {};
  /// The carry flags of its lanes.
  uint32_t carry = 0;

private:
  bool select();
  void exitLanes();

  std::vector<uint32_t> words;
  std::vector<uint32_t> predicates;
  /// The try_wait instructions that have returned false.
  std::set<uint32_t> gaveUp;
  /// The next counter at which `now` may meet another group.
  uint32_t mergeAt = kNone;
};

/// Calls `visit(lane)` for each lane of `lanes`.
template <typename Visit> inline void forLanes(uint32_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1) {
    visit(unsigned(__builtin_ctz(lanes)));
  }
}

} // namespace attn::sim

#endif // ATTN_SIM_CORE_WARP_H
