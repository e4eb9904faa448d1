// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and atomics of threads, and the order that strong ones
// establish.

#ifndef ATTN_SIM_HAZARDS_PLAIN_ACCESSES_H
#define ATTN_SIM_HAZARDS_PLAIN_ACCESSES_H

#include "core/memory.h"
#include "hazards/access_history.h"
#include "hazards/remote_uses.h"

namespace attn::sim {

/// The memory operation of a load, store or atomic instruction.
struct MemoryAction {
  bool reads = false;
  bool writes = false;
  Scope scope = Scope::None;
  bool acquires = false;
  bool releases = false;
  bool readOnly = false;
  /// The thread gets what it reads: of atomics, red does not.
  bool returns = true;
  /// It adds floating-point numbers.
  bool adds = false;
};

/// `begin` at the start of an instruction, then `access` for each lane, before
/// its memory changes.
class PlainAccesses {
public:
  PlainAccesses(ThreadKnowledge &knowledge, AccessHistory &history,
                RemoteUses &remoteUses)
      : knowledge(knowledge), history(history), remoteUses(remoteUses) {}

  void begin(const Warp &warp, const MemoryAction &action);
  /// `keeps`: it stores what the memory has already.
  void access(const Warp &warp, unsigned lane, Space space, uint64_t address,
              uint32_t bytes, bool keeps = false);
  /// Makes a weak store of one lane to shared memory. Returns the access.
  AccessId storeShared(const Warp &warp, unsigned lane, uint32_t address,
                       uint32_t bytes);
  /// A lane finds a value other than the one that it has stored in this
  /// instruction.
  void overwritten(const Warp &warp, unsigned lane, uint64_t address);

private:
  uint32_t threadAccess(TrackedMemory &memory, const Warp &warp);
  void synchronize(const Warp &warp, unsigned lane, SyncVariables &all,
                   uint64_t address);
  bool hasReleased(const Warp &warp, unsigned lane) const;
  Knowledge performed(const Warp &warp, unsigned lane);
  void release(const Warp &warp, unsigned lane, SyncVariable &variable);
  void meet(const Warp &warp, unsigned lane, const SyncVariable &variable);

  ThreadKnowledge &knowledge;
  AccessHistory &history;
  RemoteUses &remoteUses;
  /// The variables in shared memory.
  SyncVariables variables;
  /// Of the instruction that `begin` began; the accesses are made when needed.
  MemoryAction action;
  uint32_t sharedIndex = 0;
  uint32_t globalIndex = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_PLAIN_ACCESSES_H
