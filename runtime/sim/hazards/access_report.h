// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses in reports, and the text of reports.

#ifndef ATTN_SIM_HAZARDS_ACCESS_REPORT_H
#define ATTN_SIM_HAZARDS_ACCESS_REPORT_H

#include "core/warp.h"
#include "hazards/knowledge.h"
#include "hazards/rules.h"
#include "hazards/shadow.h"

#include <string>

namespace attn::sim {

/// A memory and its accesses.
struct TrackedMemory {
  Shadow &shadow;
  AccessTable &accesses;
  bool isGlobal;
};

/// The thread or unit that makes an access.
struct Accessor {
  Accessor(const Warp &warp, uint32_t pc, unsigned lane)
      : warp(warp), pc(pc), lane(lane) {}

  const Warp &warp;
  uint32_t pc;
  /// kLanes: all of the warp.
  unsigned lane;
  const Knowledge *known = nullptr;
  bool isAsync = false;
  bool reads = false;
  bool writes = false;
  /// Whether it stores the value that is there already.
  bool keeps = false;
  /// In the memory's table.
  AccessId id;
  /// Accesses of the same instruction from this index on are by other lanes
  /// that store the same value.
  uint32_t firstTwin = kNone;
  /// An access that is known to come before it.
  AccessId before;
};

/// Reports a violation of a rule. `otherPc` is the other instruction involved,
/// if any.
void report(Rule rule, const Accessor &by, const std::string &message,
            uint32_t otherPc = kNone);
void reportUninitialized(const TrackedMemory &memory, const Accessor &by,
                         uint64_t address);
/// `wrote`: the other access, `id`, is a write.
void reportConflict(Rule rule, const TrackedMemory &memory, const Accessor &by,
                    AccessId id, bool wrote, uint64_t address);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_ACCESS_REPORT_H
