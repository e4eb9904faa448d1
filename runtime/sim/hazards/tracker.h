// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds memory and synchronization hazards of a cluster while it runs. What
// decides is whether accesses are ordered by what the kernel does, not whether
// they met in this run. The core tells what happens; reports go back to Cta.

#ifndef ATTN_SIM_HAZARDS_TRACKER_H
#define ATTN_SIM_HAZARDS_TRACKER_H

#include "core/memory.h"
#include "core/warp.h"
#include "hazards/rules.h"
#include "hazards/tracker_state.h"
#include "units/tma.h"

namespace attn::sim {

class Cluster;
struct MatrixOperand;
struct WgmmaOp;

/// What a load, store or atomic instruction does to memory.
struct MemoryAction {
  bool reads = false;
  bool writes = false;
  Scope scope = Scope::None;
  bool acquires = false;
  bool releases = false;
  bool readOnly = false;
};

/// A bulk copy of one thread, as it is issued; also st.async and red.async.
struct BulkAction {
  uint32_t shared = 0;
  uint32_t bytes = 0;
  /// Of a load.
  enum class Source : uint8_t { Global, Shared, None };
  Source source = Source::Global;
  /// Of a plain copy, the other address.
  uint64_t global = 0;
  /// Of a tensor copy; null for none.
  const TensorMap *map = nullptr;
  const int32_t *coordinates = nullptr;
  /// Of a load.
  uint32_t mbarrier = 0;
  /// Of a store: the number of its group, from 0.
  uint64_t group = 0;
  bool reduces = false;
  /// A load that writes in the generic proxy.
  bool isGeneric = false;
};

/// A cp.async.
struct CopyAction {
  uint32_t shared = 0;
  uint32_t bytes = 0;
  uint64_t global = 0;
  uint32_t sourceBytes = 0;
};

class HazardTracker {
public:
  HazardTracker(Cluster &cluster, GridHazards &grid, uint64_t number);

  // Plain accesses. `begin` at the start of an instruction, then `access` for
  // each lane, before its memory changes.
  void begin(const Warp &warp, const MemoryAction &action);
  void access(const Warp &warp, unsigned lane, Space space, uint64_t address,
              uint32_t bytes);
  /// A lane finds another value than it has stored in this instruction.
  void overwritten(const Warp &warp, unsigned lane, uint64_t address);

  // Synchronization of threads.
  void syncLanes(const Warp &warp, uint32_t lanes);
  void arriveNamed(const Warp &warp, uint32_t lanes, uint32_t barrier,
                   bool waits);
  void leaveNamed(const Warp &warp);
  void completeNamed(const Warp &warp, uint32_t barrier);
  void arriveCluster(const Warp &warp, bool releases);
  void leaveCluster(const Warp &warp);
  void completeCluster();
  void fence(const Warp &warp, Scope scope, bool acquires, bool releases);
  void proxyFence(const Warp &warp, bool shared, bool global);
  void initFence(const Warp &warp);

  // mbarriers; `phase` is the number of the current one.
  void initMbarrier(const Warp &warp, unsigned lane, uint32_t address);
  void invalMbarrier(const Warp &warp, unsigned lane, uint32_t address);
  /// Before anything else is done with one.
  void useMbarrier(const Warp &warp, unsigned lane, uint32_t address);
  /// `scope` is what an arrival that releases is for.
  void arriveMbarrier(const Warp &warp, unsigned lane, uint32_t address,
                      uint64_t phase, bool releases, Scope scope);
  /// expect_tx or complete_tx.
  void changeBytes(const Warp &warp, unsigned lane, uint32_t address);
  void completePhase(const Warp &warp, uint32_t pc, unsigned lane,
                     uint32_t address);
  /// `lanes` look for the phase of a parity (2: named by a token).
  void waitMbarrier(const Warp &warp, uint32_t lanes, uint32_t address,
                    uint64_t phase, uint32_t parity, bool passed,
                    bool acquires);

  // Asynchronous operations.
  /// Returns a number for `completeLoad`.
  uint32_t issueLoad(const Warp &warp, unsigned lane, const BulkAction &action);
  void completeLoad(uint32_t load, uint32_t address, uint64_t phase);
  void issueStore(const Warp &warp, unsigned lane, const BulkAction &action);
  /// The lane knows `groups` of its bulk groups to be complete.
  void waitStores(const Warp &warp, unsigned lane, uint64_t groups,
                  bool onlyReads);
  void issueCopy(const Warp &warp, unsigned lane, const CopyAction &action);
  void commitCopies(const Warp &warp, unsigned lane);
  /// The lane knows all but `pending` of its groups of cp.async to be complete,
  /// or all copies.
  void waitCopies(const Warp &warp, unsigned lane, size_t pending, bool all);
  /// How many cp.async the lane has issued; and an arrival when those are
  /// complete.
  uint32_t countCopies(const Warp &warp, unsigned lane);
  void arriveCopies(const Warp &warp, unsigned lane, uint32_t address,
                    uint32_t count);
  /// `number` counts the warpgroup's operations from 1.
  void issueWgmma(const Warp &warp, const WgmmaOp &op, uint64_t number);
  void waitWgmma(const Warp &warp, uint64_t number);
  /// What is known to have been written to the tensor map at a global address
  /// is seen by those who use it after this.
  void acquireTensorMap(const Warp &warp, unsigned lane, uint64_t address);
  /// The tensor map at a global address is about to be used.
  void useTensorMap(const Warp &warp, unsigned lane, uint64_t address);

  /// All threads have ended.
  void finish();

private:
  enum class Order : uint8_t { Before, NoProxyFence, SomeWarps, None };

  // Threads.
  uint32_t indexOf(const Warp &warp) const;
  WarpThreads &threadsOf(const Warp &warp) { return warps[indexOf(warp)]; }
  const WarpThreads &threadsOf(const Warp &warp) const {
    return warps[indexOf(warp)];
  }
  const Warp &warpOf(const Access &access) const;
  NamedState &namedOf(const Warp &warp, uint32_t barrier);
  WgmmaState &groupOf(const Warp &warp);
  uint32_t componentOf(const Warp &warp, unsigned lane) const;
  LaneView &viewOf(const Warp &warp, unsigned lane);
  /// Calls `visit` for views that together have just `lanes`; makes them.
  template <typename Visit>
  void forViews(const Warp &warp, uint32_t lanes, Visit visit);
  void touch(LaneView &view) { view.serial = ++serials; }
  /// Adds what one lane knows of its own accesses.
  void publishOwn(const Warp &warp, unsigned lane, Knowledge &to,
                  uint32_t epoch);
  uint32_t releasedBy(const Warp &warp, unsigned lane, uint32_t address,
                      Scope scope);
  /// Adds what the lanes know; what they do after this is not known.
  void publish(const Warp &warp, uint32_t lanes, Knowledge &to);
  void acquire(const Warp &warp, uint32_t lanes, const Knowledge &from);
  /// The executing lanes leave the barriers that they wait at, by lane.
  void acquireEach(const Warp &warp, std::shared_ptr<Knowledge> *barriers);

  // Accesses.
  Accessor accessorOf(const Warp &warp, unsigned lane, uint32_t index = 0);
  uint32_t addAccess(TrackedMemory &memory, const Warp &warp, Agent agent,
                     uint32_t component, uint32_t epoch);
  uint32_t threadAccess(TrackedMemory &memory, const Warp &warp);
  bool isOwn(const Accessor &by, const Access &other, unsigned lane) const;
  Order compare(const Accessor &by, const Access &other, unsigned lane,
                bool isGlobal) const;
  void check(TrackedMemory &memory, Accessor &by, AccessId id, bool wrote,
             uint64_t address);
  void visit(TrackedMemory &memory, Accessor &by, uint64_t address,
             uint32_t bytes);
  void visitShared(Accessor &by, uint32_t address, uint32_t bytes);
  /// The global side of a bulk copy, and the shared source of a store.
  void visitGlobalSide(Accessor &by, const BulkAction &bulk, RowEnd rowEnd);
  void visitSource(Accessor &by, const BulkAction &bulk);
  /// Some rows of a matrix in shared memory.
  void visitRows(Accessor &by, const MatrixOperand &operand, uint32_t first,
                 uint32_t rows);
  bool isFresh(uint64_t address) const;
  bool touchesMbarrier(const Accessor &by, uint32_t address, uint32_t bytes);
  /// A lane is about to use the shared memory of a CTA, perhaps another's.
  /// `ends`: the use is over when the lane next releases.
  void useCta(const Accessor &by, uint32_t address, bool ends);
  void synchronize(const Warp &warp, unsigned lane, SyncVariable &variable);
  Knowledge performed(const Warp &warp, unsigned lane);
  void release(const Warp &warp, unsigned lane, SyncVariable &variable);
  void meet(const Warp &warp, unsigned lane, const SyncVariable &variable);

  // Barriers and engines.
  bool knows(const Accessor &by, const Clock &clock, AccessId init,
             uint32_t epoch) const;
  void useForLoad(const Accessor &by, uint32_t address);
  uint32_t findUnordered(const Accessor &by, const Clock &events) const;
  bool knowsLastPhase(const Accessor &by, const MbarrierState &barrier,
                      uint64_t phase) const;
  void checkArrival(const Accessor &by, uint32_t address, uint64_t phase);
  void setLive(uint32_t address, bool isLive);
  void readSource(const Warp &warp, unsigned lane, const BulkAction &bulk,
                  LoadState &load);
  CopyState &copiesOf(const Warp &warp, unsigned lane);
  StoreState &storesOf(const Warp &warp, unsigned lane);
  Knowledge commonKnowledge(const Warp &warp) const;
  void finishLoads();
  void finishWarp(const Warp &warp);
  void finishBarriers();
  /// Whether what others did to a CTA's shared memory is before its end.
  void finishRemote(uint32_t rank);

  // Reports.
  void report(Rule rule, const Accessor &by, const std::string &message,
              uint32_t otherPc = kNone);
  void reportUninitialized(const TrackedMemory &memory, const Accessor &by,
                           uint64_t address);
  void reportConflict(Rule rule, const TrackedMemory &memory,
                      const Accessor &by, AccessId id, bool wrote,
                      uint64_t address);

  Cluster &cluster;
  GridHazards &grid;
  /// The cluster's.
  const uint64_t number;
  uint32_t warpsPerCta;
  Shadow shadow;
  AccessTable accesses;
  TrackedMemory sharedMemory;
  TrackedMemory globalMemory;
  SyncVariables variables;
  std::vector<WarpThreads> warps;
  std::vector<NamedState> named;
  std::shared_ptr<Knowledge> clusterArriving;
  std::vector<WgmmaState> groups;
  std::unordered_map<uint32_t, MbarrierState> barriers;
  /// For each 8 bytes of shared memory: a live mbarrier is there.
  std::vector<bool> barrierWords;
  uint32_t wordsPerCta;
  uint32_t liveBarriers = 0;
  /// By thread.
  std::unordered_map<uint32_t, StoreState> stores;
  std::unordered_map<uint32_t, CopyState> copies;
  /// By global address.
  std::unordered_map<uint64_t, TensorMapState> tensorMaps;
  std::vector<LoadState> loads;
  /// By CTA that is used, the last use by each thread of another.
  std::vector<std::map<uint32_t, RemoteUse>> remoteUses;
  /// Components in use, and serials of views.
  uint32_t components = 0;
  uint64_t serials = 0;
  /// Of the instruction that `begin` began; the accesses are made when needed.
  MemoryAction action;
  uint32_t sharedIndex = 0;
  uint32_t globalIndex = 0;
};

template <typename Visit>
void HazardTracker::forViews(const Warp &warp, uint32_t lanes, Visit visit) {
  std::vector<LaneView> &views = threadsOf(warp).views;
  for (size_t i = 0; i < views.size(); ++i) {
    uint32_t inside = views[i].lanes & lanes;
    if (inside == 0) {
      continue;
    }
    if (inside != views[i].lanes) {
      LaneView others = views[i];
      others.lanes &= ~inside;
      views[i].lanes = inside;
      views.push_back(std::move(others));
    }
    visit(views[i]);
  }
}

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TRACKER_H
