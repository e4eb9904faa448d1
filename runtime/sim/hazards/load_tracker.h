// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of a warp that tcgen05.ld has in flight. An instruction that
// uses one of them waits for the whole load, as on hardware; one that
// overwrites it before that does not wait.

#ifndef ATTN_SIM_HAZARDS_LOAD_TRACKER_H
#define ATTN_SIM_HAZARDS_LOAD_TRACKER_H

#include "hazards/register_plan.h"

namespace attn::sim {

class Warp;
struct Inst;

class LoadTracker {
public:
  explicit LoadTracker(const RegisterPlan &plan) : plan(plan) {}

  /// Checks an instruction's registers before it executes. Returns false if it
  /// must not execute.
  bool check(Warp &warp, const RegisterWatch &watch);
  /// A load. Returns its number, from 1.
  uint64_t issue(const Inst &inst, uint32_t pc);
  /// The warp waits for its loads.
  void wait() { waited = loads.size(); }

private:
  struct Load {
    uint32_t pc = 0;
    bool isUsed = false;
  };

  bool isPending(uint64_t number) const {
    return number > waited && !loads[number - 1].isUsed;
  }

  const RegisterPlan &plan;
  std::vector<Load> loads;
  uint64_t waited = 0;
  /// By watched register, the last load of it.
  std::vector<uint64_t> loadOf;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_LOAD_TRACKER_H
