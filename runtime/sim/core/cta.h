// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One CTA: its warps, shared memory, barriers and operations in flight.

#ifndef ATTN_SIM_CORE_CTA_H
#define ATTN_SIM_CORE_CTA_H

#include "core/cta_reports.h"
#include "core/in_flight.h"
#include "core/launch.h"
#include "core/observer.h"
#include "core/random.h"
#include "core/warp.h"
#include "hazards/register_pool.h"
#include "units/mbarrier.h"

#include <array>
#include <unordered_map>

namespace attn::sim {

constexpr unsigned kNamedBarriers = 16;
/// Of a CTA.
constexpr unsigned kMaxWarps = 32;
/// The content of shared memory before it is written: NaNs of every format.
constexpr uint8_t kSharedPoison = 0xff;

struct NamedBarrier {
  /// Threads that arrived in this generation, and that are expected (0: none
  /// has arrived).
  uint32_t arrived = 0;
  uint32_t expected = 0;
  uint64_t generation = 0;
  /// Warps that arrived in this generation and do not wait, one bit each; and
  /// those that wait.
  uint32_t arrivers = 0;
  uint32_t waiters = 0;
  /// The arrived lanes of warps of which not all lanes have arrived.
  uint32_t lanes[kMaxWarps] = {};
  /// For bar.red: the threads whose predicate held, and all; and both at the
  /// end of the last generation.
  uint32_t votes = 0;
  uint32_t voters = 0;
  std::pair<uint32_t, uint32_t> result;
};

class Cluster;
class HazardTracker;

/// Returns the position in the grid of CTA `rank` of a cluster.
std::array<uint32_t, 3> findPosition(const GridLaunch &launch, uint64_t cluster,
                                     uint32_t rank);

class Cta {
public:
  /// CTA `rank` of cluster number `clusterNumber`.
  Cta(const Program &program, const GridLaunch &launch,
      const GlobalMemory &memory, const SimOptions &options, Cluster &cluster,
      uint64_t clusterNumber, uint32_t rank);

  // For the cluster.

  /// Runs a warp for a while, or completes an operation; returns false if it
  /// can do neither.
  bool takeTurn();
  bool isDone() const;
  uint64_t getInstructionCount() const { return instructions; }
  /// Returns the number of instructions before the one that runs now.
  uint64_t readClock() const;
  bool hasStarted = false;

  // For handlers.

  /// Returns the host address of shared memory, or null if the address is not
  /// the CTA's. Addresses have the CTA's rank in the cluster above the offset.
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
  /// Returns `address`, an offset in this CTA or another, with this CTA's rank.
  uint32_t ownAddress(uint32_t address) const {
    return rank << kSharedRankShift | (address & kSharedOffsetMask);
  }
  /// Returns the CTA of the cluster with a shared address; null with `problem`
  /// set if it cannot be accessed.
  Cta *findOwner(uint32_t address, std::string &problem);
  /// Returns the host address of any memory; null with `problem` set, which
  /// ends with a rule.
  uint8_t *resolve(Space space, uint64_t address, uint32_t bytes, bool write,
                   const Warp &warp, unsigned lane, std::string &problem);
  /// Returns the mbarrier at a shared address; null with `problem` set,
  /// likewise.
  Mbarrier *findMbarrier(uint32_t address, std::string &problem);
  /// Updates the image of a barrier in shared memory.
  void storeMbarrier(uint32_t address, const Mbarrier &barrier);
  Warp &getWarp(uint32_t index) { return *warps[index]; }
  const std::vector<std::unique_ptr<Warp>> &getWarps() const { return warps; }
  /// Counts a poll: a thread asked for something that must happen eventually,
  /// and may ask again.
  void notePoll() { ++polls; }
  bool chance(unsigned oneIn) { return randomly && random.below(oneIn) == 0; }

  const Program &program;
  const GridLaunch &launch;
  Cluster &cluster;
  const uint32_t rank;
  const std::array<uint32_t, 3> position;
  /// The number in the grid.
  const uint64_t number;
  const uint32_t threads;
  const WgmmaArithmetic sums;
  /// A thread has seen the response of a clusterlaunchcontrol.try_cancel that
  /// failed.
  bool sawFailedCancel = false;
  CtaReports reports;
  NamedBarrier barriers[kNamedBarriers];
  RegisterPool registers;
  std::unordered_map<uint32_t, Mbarrier> mbarriers;
  /// Counts all events that a blocked warp may wait for.
  uint64_t changes = 0;
  GlobalView global;
  InFlight inFlight;
  /// The hazard tracker, which handlers inform; or null.
  HazardTracker *hazards = nullptr;
  /// Null if there is no observer.
  std::unique_ptr<Observer> observer;

private:
  void makeWarps();
  Warp *pickWarp();

  std::vector<uint8_t> sharedBytes;
  std::vector<uint8_t> localBytes;
  std::vector<uint8_t> params;
  std::vector<std::unique_ptr<Warp>> warps;
  bool randomly = false;
  /// One in this many turns of a warp completes something.
  uint64_t slowness = 1;
  Random random;
  uint64_t budget = 0;
  uint64_t polls = 0;
  uint64_t instructions = 0;
  size_t turn = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CTA_H
