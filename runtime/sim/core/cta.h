// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One CTA: its warps, shared memory, barriers and what it has in flight.

#ifndef ATTN_SIM_CORE_CTA_H
#define ATTN_SIM_CORE_CTA_H

#include "core/async.h"
#include "core/launch.h"
#include "core/observer.h"
#include "core/warp.h"
#include "hazards/register_pool.h"
#include "units/mbarrier.h"

#include <array>
#include <unordered_map>

namespace attn::sim {

constexpr unsigned kNamedBarriers = 16;
/// Of a CTA.
constexpr unsigned kMaxWarps = 32;
/// What shared memory holds before it is written: NaNs of every format.
constexpr uint8_t kSharedPoison = 0xff;

struct NamedBarrier {
  /// Threads that arrived in this generation, and that are expected (0: none
  /// has arrived).
  uint32_t arrived = 0;
  uint32_t expected = 0;
  uint64_t generation = 0;
  /// Warps that arrived in this generation and do not wait, a bit each; and
  /// those that wait.
  uint32_t arrivers = 0;
  uint32_t waiters = 0;
  /// Lanes that have arrived of warps that have not with all theirs.
  uint32_t lanes[kMaxWarps] = {};
  /// Of bar.red: threads whose predicate held, and all; and both as the last
  /// generation ended.
  uint32_t votes = 0;
  uint32_t voters = 0;
  std::pair<uint32_t, uint32_t> result;
};

/// A small seeded generator (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

class Cluster;
class HazardTracker;

class Cta {
public:
  /// CTA `rank` of cluster number `clusterNumber`.
  Cta(const Program &program, const GridLaunch &launch,
      const GlobalMemory &memory, const SimOptions &options, Cluster &cluster,
      uint64_t clusterNumber, uint32_t rank);

  // For the cluster.

  /// Runs a warp for a while, or completes something; false if it can do
  /// neither.
  bool takeTurn();
  /// Completes one operation in flight; false if there is none that may.
  bool completeOne();
  bool isDone() const;
  const std::string &getFailure() const { return failure; }
  uint64_t getInstructionCount() const { return instructions; }
  /// The same, up to the instruction that runs now.
  uint64_t readClock() const;
  /// A line for each group of lanes that waits.
  std::string describeBlocked() const;
  /// The most particular rule that explains a wait.
  Rule findDeadlockRule() const;
  bool hasStarted = false;

  // For handlers.

  /// The host's address of shared memory, or null where it is not the CTA's.
  /// Addresses have the CTA's rank in the cluster above the offset.
  uint8_t *shared(uint32_t address, uint32_t bytes) {
    uint32_t place = address - (rank << kSharedRankShift);
    uint64_t offset = uint64_t(place) - kSharedBase;
    return place >= kSharedBase && offset + bytes <= sharedBytes.size()
               ? sharedBytes.data() + offset
               : nullptr;
  }
  SharedView sharedView() const {
    return {sharedBytes.data(), kSharedBase, uint32_t(sharedBytes.size())};
  }
  /// `address`, an offset of this CTA's or of another's, with this CTA's rank.
  uint32_t ownAddress(uint32_t address) const {
    return rank << kSharedRankShift | (address & kSharedOffsetMask);
  }
  /// The CTA of the cluster that has a shared address; null with `problem` set
  /// if it cannot be accessed.
  Cta *findOwner(uint32_t address, std::string &problem);
  /// The host's address of any memory; null with `problem` set, which ends with
  /// a rule.
  uint8_t *resolve(Space space, uint64_t address, uint32_t bytes, bool write,
                   const Warp &warp, unsigned lane, std::string &problem);
  /// The mbarrier at a shared address; null with `problem` set, likewise.
  Mbarrier *findMbarrier(uint32_t address, std::string &problem);
  /// Keeps the image of a barrier in shared memory up to date.
  void storeMbarrier(uint32_t address, const Mbarrier &barrier);
  BulkGroups &bulkGroups(const Warp &warp, unsigned lane) {
    return bulk[warp.index * kLanes + lane];
  }
  AsyncThread &asyncThread(uint32_t warp, unsigned lane) {
    asyncThreads.resize(warps.size() * kLanes);
    return asyncThreads[warp * kLanes + lane];
  }
  WarpGroup &groupOf(const Warp &warp) { return groups[warp.index / 4]; }
  void start(std::unique_ptr<AsyncCopy> copy);
  /// Multiplies and retires the oldest operation of a warpgroup.
  void completeWgmma(WarpGroup &group, uint32_t firstWarp);
  /// Completes what may, if all is to complete early.
  void completeEarly(WarpGroup &group, uint32_t firstWarp);
  void finishBulk(uint32_t warp, uint32_t lane, uint64_t group) {
    finishGroup(bulk[warp * kLanes + lane], group);
  }
  /// "PTX line 12".
  std::string describeLine(uint32_t pc) const;
  void reportFault(const Warp &warp, const std::string &message, unsigned lane);
  /// Reports what breaks a rule, noticed at `pc`. `otherPc` is the instruction
  /// that it is about besides, if there is one.
  void reportHazard(Rule rule, const Warp &warp, uint32_t pc, unsigned lane,
                    const std::string &message, uint32_t otherPc = kNone);
  /// Whether such a report would be heard.
  bool wantsHazard(Rule rule, uint32_t pc, uint32_t otherPc) const;
  /// The same for what trackers find. Whether execution goes on.
  bool report(Rule rule, const Warp &warp, uint32_t pc,
              const std::string &message, unsigned lane = kLanes);
  const Reports &getReports() const { return reports; }
  /// An instruction and who executed it, for reports.
  std::string describePlace(uint64_t cta, uint32_t warp, uint32_t pc,
                            unsigned lane) const;
  Warp &getWarp(uint32_t index) { return *warps[index]; }
  /// A thread asked for something, perhaps in vain, and may ask again: what it
  /// asks for has to come about some time.
  void notePoll() { ++polls; }
  bool chance(unsigned oneIn) { return randomly && random.below(oneIn) == 0; }

  const Program &program;
  const GridLaunch &launch;
  Cluster &cluster;
  const uint32_t rank;
  const std::array<uint32_t, 3> position;
  /// In the grid.
  const uint64_t number;
  const uint32_t threads;
  NamedBarrier barriers[kNamedBarriers];
  RegisterPool registers;
  std::unordered_map<uint32_t, Mbarrier> mbarriers;
  /// Counts everything that a blocked warp may wait for.
  uint64_t changes = 0;
  GlobalView global;
  /// Who looks for hazards, told by handlers; null: nobody.
  HazardTracker *hazards = nullptr;
  /// Null: nobody watches.
  std::unique_ptr<Observer> observer;

private:
  void makeWarps();
  void fillPresets(Warp &warp);
  uint64_t specialValue(Special special, const Warp &warp, unsigned lane) const;
  Warp *pickWarp();
  void completeCopy(size_t index);
  std::string describeWait(const Wait &wait) const;
  bool lacksWarp(uint32_t group) const;
  bool needsExited(const NamedBarrier &barrier) const;
  /// Calls `visit(warp, group)` for the lanes of each warp that has not ended.
  template <typename Visit> void forGroups(Visit visit) const;

  std::vector<uint8_t> sharedBytes;
  std::vector<uint8_t> localBytes;
  std::vector<uint8_t> params;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<BulkGroups> bulk;
  std::vector<AsyncThread> asyncThreads;
  std::vector<WarpGroup> groups;
  std::vector<std::unique_ptr<AsyncCopy>> copies;
  AsyncPolicy policy = AsyncPolicy::Late;
  bool randomly = false;
  /// One in this many turns of a warp completes something.
  uint64_t slowness = 1;
  /// What a random schedule completes first: a multiplication that outruns the
  /// copies shows a missing wait, and so does the reverse.
  enum class Preference : uint8_t { None, Wgmma, Copies };
  Preference preference = Preference::None;
  Random random;
  uint64_t budget = 0;
  uint64_t polls = 0;
  uint64_t instructions = 0;
  size_t turn = 0;
  std::string failure;
  HazardMode hazardMode;
  Reports reports;
};

/// "0x410".
std::string toHex(uint64_t value);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CTA_H
