// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of mbarriers, and how asynchronous operations signal them.

#ifndef ATTN_SIM_HAZARDS_MBARRIER_SIGNALS_H
#define ATTN_SIM_HAZARDS_MBARRIER_SIGNALS_H

#include "hazards/thread_knowledge.h"

#include <memory>
#include <unordered_map>

namespace attn::sim {

/// The events of a phase: the last arrival or transaction of each thread, and
/// whether asynchronous operations made others.
struct PhaseEvents {
  Clock threads;
  bool hasAsync = false;
};

struct MbarrierState {
  bool isLive = false;
  /// Epoch of the component: `base` and the number of phases complete.
  uint32_t component = 0;
  uint32_t base = 0;
  /// The knowledge of all arrivals so far, and the view of the last one.
  Knowledge arriving;
  uint64_t joined = 0;
  /// That knowledge at the end of the last phase; null before the first.
  std::shared_ptr<const Knowledge> published;
  /// The thread that initialized it, when, and when it fenced that (0: not
  /// yet).
  AccessId init;
  uint32_t initFence = 0;
  /// The numbers of complete phases, and of phases that some thread has waited
  /// for.
  uint64_t phases = 0;
  uint64_t awaited = 0;
  /// Of the current phase and of the last.
  PhaseEvents events;
  PhaseEvents lastEvents;
  /// Loads that have not delivered: indices of accesses.
  std::vector<uint32_t> loads;
  /// tcgen05.commits that have not arrived, and the epoch of the phase in which
  /// the last one did.
  uint32_t commits = 0;
  uint32_t commitEpoch = 0;
  /// The last use by each thread.
  Clock uses;
};

/// By address.
using MbarrierStates = std::unordered_map<uint32_t, MbarrierState>;

/// The signals of asynchronous operations to mbarriers.
class MbarrierSignals {
public:
  MbarrierStates states;

  /// The clock component of an mbarrier's phases.
  uint32_t componentOf(uint32_t address) { return states[address].component; }
  /// A load will signal an mbarrier, or has: returns the epoch of that.
  void beginLoad(uint32_t address, uint32_t load);
  uint32_t endLoad(uint32_t address, uint32_t load, uint64_t phase);
  /// Records an asynchronous arrival that releases the knowledge `known`.
  void arriveAsync(uint32_t address, const Knowledge &known);
  /// Records that a tcgen05.commit will arrive, or that it arrives.
  void beginCommit(uint32_t address) { ++states[address].commits; }
  void arriveCommit(uint32_t address, const Knowledge &known);
  /// Whether some thread has waited for the phase of a load's epoch.
  bool isAwaited(uint32_t address, uint32_t epoch) const;
  /// Whether some thread has waited for the phase in which the last
  /// tcgen05.commit arrived.
  bool isCommitAwaited(uint32_t address) const;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_MBARRIER_SIGNALS_H
