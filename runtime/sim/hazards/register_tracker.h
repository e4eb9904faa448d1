// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The watched registers of a warp: which lanes have written them, and their use
// by wgmma. wgmma reads and writes registers after it was issued; only a
// wgmma.wait_group waits for its end, and only a wgmma.fence orders earlier
// accesses.

#ifndef ATTN_SIM_HAZARDS_REGISTER_TRACKER_H
#define ATTN_SIM_HAZARDS_REGISTER_TRACKER_H

#include "hazards/register_plan.h"

#include <string>

namespace attn::sim {

class Warp;
struct Accumulators;
struct Inst;

/// The location of a register's value while a wgmma in flight computes it.
struct RegisterHolder {
  Accumulators *accumulators = nullptr;
  uint32_t index = 0;
};

class RegisterTracker {
public:
  explicit RegisterTracker(const RegisterPlan &plan);

  /// Checks an instruction's registers before it executes. Returns false if it
  /// must not execute.
  bool check(Warp &warp, const Inst &inst);

  /// Makes the checks that only wgmma needs: `number` counts the warp's wgmma
  /// from 1, and `shape` identifies the shape.
  bool checkWgmma(Warp &warp, const Inst &inst, bool accumulates,
                  uint32_t shape);
  void issue(const Inst &inst, uint32_t pc, uint64_t number, uint32_t shape);
  void fence() { ++fences; }
  /// The warp waited for its wgmma up to `number`.
  void wait(uint64_t number) { waited = number > waited ? number : waited; }

  /// By position in a wgmma's accumulators.
  RegisterHolder &holder(const Inst &inst, uint32_t position);
  /// By watched register.
  RegisterHolder &holder(uint32_t number) { return states[number].holder; }
  uint32_t numberOf(const Inst &inst, uint32_t position) const;

private:
  struct State {
    /// Lanes that have written it.
    uint32_t written = 0;
    /// The last wgmma that accumulates in it and its position there, and the
    /// last that reads it as a part of A; 0 for none.
    uint64_t accumulates = 0;
    uint64_t feeds = 0;
    uint32_t accumulatesAt = 0;
    uint32_t feedsAt = 0;
    uint32_t place = 0;
    uint32_t shape = 0;
    /// The value of `fences` when another instruction last used or wrote it.
    uint32_t used = ~0u;
    uint32_t changed = ~0u;
    RegisterHolder holder;
  };

  bool isAccumulating(const State &state) const {
    return state.accumulates > waited;
  }
  bool isFeeding(const State &state) const { return state.feeds > waited; }
  std::string quote(uint32_t number) const;
  bool isWritten(Warp &warp, uint32_t number, uint32_t lanes);
  bool checkWritten(Warp &warp, const RegisterWatch &watch);
  bool checkReads(Warp &warp, const RegisterWatch &watch, bool copies);
  bool checkWrites(Warp &warp, const RegisterWatch &watch, bool copies);
  void noteWrites(const Warp &warp, const RegisterWatch &watch);
  void carry(Warp &warp, const Inst &inst, uint32_t from, uint32_t to);
  bool checkFragment(Warp &warp, uint32_t number);
  bool checkAccumulator(Warp &warp, uint32_t number, uint32_t place,
                        uint32_t shape, bool chained);

  const RegisterPlan &plan;
  std::vector<State> states;
  uint32_t fences = 0;
  uint64_t waited = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REGISTER_TRACKER_H
