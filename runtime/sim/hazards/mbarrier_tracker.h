// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers: the order that they establish, and their misuse.

#ifndef ATTN_SIM_HAZARDS_MBARRIER_TRACKER_H
#define ATTN_SIM_HAZARDS_MBARRIER_TRACKER_H

#include "hazards/mbarrier_signals.h"
#include "hazards/plain_accesses.h"

namespace attn::sim {

/// A `phase` is the number of the current one.
class MbarrierTracker {
public:
  MbarrierTracker(ThreadKnowledge &knowledge, AccessHistory &history,
                  RemoteUses &remoteUses, PlainAccesses &plain)
      : knowledge(knowledge), history(history), remoteUses(remoteUses),
        plain(plain) {}

  MbarrierSignals signals;

  void initMbarrier(const Warp &warp, unsigned lane, uint32_t address);
  void invalMbarrier(const Warp &warp, unsigned lane, uint32_t address);
  void initFence(const Warp &warp);
  /// Must be called before any other use of an mbarrier.
  void useMbarrier(const Warp &warp, unsigned lane, uint32_t address);
  /// Before a copy of the async proxy is to signal one.
  void useForLoad(const Accessor &by, uint32_t address);
  /// Records an arrival with `scope` (None if it names none), which releases or
  /// is relaxed. At the mbarrier of another CTA, an arrival of CTA scope counts
  /// as relaxed.
  void arriveMbarrier(const Warp &warp, unsigned lane, uint32_t address,
                      uint64_t phase, bool releases, Scope scope);
  /// expect_tx or complete_tx.
  void changeBytes(const Warp &warp, unsigned lane, uint32_t address);
  void completePhase(const Warp &warp, uint32_t pc, unsigned lane,
                     uint32_t address);
  /// `lanes` test the phase of a parity (2: named by a token).
  void waitMbarrier(const Warp &warp, uint32_t lanes, uint32_t address,
                    uint64_t phase, uint32_t parity, bool passed,
                    bool acquires);
  /// All threads have ended.
  void finishBarriers();

private:
  bool knows(const Accessor &by, const Clock &clock, AccessId init,
             uint32_t epoch) const;
  bool knowsLastPhase(const Accessor &by, const MbarrierState &barrier,
                      uint64_t phase) const;
  void checkArrival(const Accessor &by, uint32_t address, uint64_t phase);
  uint32_t releasedBy(const Warp &warp, unsigned lane, uint32_t address,
                      Scope scope);

  ThreadKnowledge &knowledge;
  AccessHistory &history;
  RemoteUses &remoteUses;
  PlainAccesses &plain;
  MbarrierStates &states = signals.states;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_MBARRIER_TRACKER_H
