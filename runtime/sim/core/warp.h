// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp: registers, and groups of lanes at one program counter each. The group
// with the lowest counter runs, so lanes that diverged meet again; a group that
// is blocked lets the others go on.

#ifndef ATTN_SIM_CORE_WARP_H
#define ATTN_SIM_CORE_WARP_H

#include "core/program.h"
#include "hazards/register_tracker.h"
#include "hazards/rules.h"

#include <set>

namespace attn::sim {

class Cta;

/// What a group waits for, for reports.
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
    Registers
  };
  Kind kind = Kind::None;
  /// A barrier's number or address; of Convergence, the rule that lanes break
  /// that do not come.
  uint32_t object = 0;
  /// The parity wanted, or the operations that may be pending.
  uint32_t value = 0;
};

struct LaneGroup {
  uint32_t pc = 0;
  uint32_t lanes = 0;
  bool blocked = false;
  /// The CTA's change count when it blocked.
  uint64_t blockedAt = 0;
  Wait wait;
  /// It has arrived at a named barrier whose generation was this.
  bool arrived = false;
  uint64_t generation = 0;
};

enum class RunResult : uint8_t { Runnable, Blocked, Done, Fault };

class Warp {
public:
  Warp(Cta &cta, uint32_t index, uint32_t lanes);

  /// Executes at most `quantum` instructions; lowers it by those executed.
  RunResult run(uint64_t &quantum);
  bool isDone() const { return live == 0; }
  /// Whether something changed since all its groups blocked.
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

  /// Reports an error of the current instruction, in `lane` if that is one.
  Step fault(const std::string &message, unsigned lane = kLanes);
  /// The same of a rule after which execution cannot go on.
  Step fault(Rule rule, const std::string &message, unsigned lane = kLanes);
  /// Reports what breaks a rule. Whether execution goes on.
  bool report(Rule rule, const std::string &message, unsigned lane = kLanes);
  Step block(Wait::Kind kind, uint32_t object = 0, uint32_t value = 0);
  /// Goes on after what may have been a wait.
  Step pass(Wait::Kind kind, uint32_t object = 0, uint32_t value = 0);
  /// Waits until all live lanes of `wanted` execute this instruction. If they
  /// do not, `step` is what becomes of it; lanes that never come break `rule`.
  bool gather(uint32_t wanted, Rule rule, Step &step);
  /// Whether a try_wait is to give false rather than suspend: so does each the
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
  /// Instructions executed.
  uint64_t steps = 0;
  /// Lanes that have arrived at the cluster's barrier and not waited, and the
  /// barrier's generation then, by lane.
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
  /// The try_wait that have given false.
  std::set<uint32_t> gaveUp;
  /// The next counter at which `now` meets another group.
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
