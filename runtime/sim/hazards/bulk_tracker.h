// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracks bulk copies from their issue to the wait for their end.

#ifndef ATTN_SIM_HAZARDS_BULK_TRACKER_H
#define ATTN_SIM_HAZARDS_BULK_TRACKER_H

#include "hazards/mbarrier_tracker.h"
#include "units/tma.h"

namespace attn::sim {

/// A bulk copy of one thread, as it is issued; also st.async and red.async.
struct BulkAction {
  uint32_t shared = 0;
  uint32_t bytes = 0;
  /// For a load.
  enum class Source : uint8_t { Global, Shared, None };
  Source source = Source::Global;
  /// For a plain copy, the other address.
  uint64_t global = 0;
  /// For a tensor copy, otherwise null.
  const TensorMap *map = nullptr;
  const int32_t *coordinates = nullptr;
  BoxMode mode = BoxMode::Tile;
  /// Of a load.
  uint32_t mbarrier = 0;
  /// Of a store: the number of its group, from 0.
  uint64_t group = 0;
  bool reduces = false;
  /// A store that adds floating-point numbers.
  bool adds = false;
  /// A load that writes in the generic proxy.
  bool isGeneric = false;
};

/// An operation that signals an mbarrier: its accesses to the destination in
/// shared memory and to the source, in shared or global memory (0: none).
struct LoadState {
  uint32_t index = 0;
  uint32_t sharedSource = 0;
  uint32_t globalSource = 0;
  uint32_t lane = 0;
  uint32_t mbarrier = 0;
};

/// The bulk stores of a thread.
struct StoreState {
  uint32_t readComponent = 0;
  uint32_t doneComponent = 0;
  /// The group of the last one, from 1, and its instruction.
  uint32_t last = 0;
  uint32_t pc = 0;
};

class BulkTracker {
public:
  BulkTracker(ThreadKnowledge &knowledge, AccessHistory &history,
              RemoteUses &remoteUses, MbarrierTracker &mbarriers)
      : knowledge(knowledge), history(history), remoteUses(remoteUses),
        mbarriers(mbarriers) {}

  /// Returns a number for `completeLoad`.
  uint32_t issueLoad(const Warp &warp, unsigned lane, const BulkAction &action);
  void completeLoad(uint32_t load, uint32_t address, uint64_t phase);
  /// A new instruction begins to store.
  void beginStores() { firstStore.index = kNone; }
  void issueStore(const Warp &warp, unsigned lane, const BulkAction &action);
  /// Records that the lane knows `groups` of its bulk groups to be complete.
  void waitStores(const Warp &warp, unsigned lane, uint64_t groups,
                  bool onlyReads);
  /// All threads have ended.
  void finishLoads();
  void finishStores(const Warp &warp);

private:
  /// The global side of a bulk copy, and the shared source of a store.
  void visitGlobalSide(Accessor &by, const BulkAction &bulk, RowEnd rowEnd);
  void visitSource(Accessor &by, const BulkAction &bulk);
  void readSource(const Warp &warp, unsigned lane, const BulkAction &bulk,
                  LoadState &load);
  StoreState &storesOf(const Warp &warp, unsigned lane);
  void findTwins(Accessor &writer, const BulkAction &bulk, uint32_t index);

  /// The store of the current instruction's first lane.
  struct {
    uint32_t index = kNone;
    uint32_t shared = 0;
    uint64_t global = 0;
    int32_t coordinates[kMaxTensorRank] = {};
  } firstStore;

  ThreadKnowledge &knowledge;
  AccessHistory &history;
  RemoteUses &remoteUses;
  MbarrierTracker &mbarriers;
  std::vector<LoadState> loads;
  /// By thread.
  std::unordered_map<uint32_t, StoreState> stores;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_BULK_TRACKER_H
