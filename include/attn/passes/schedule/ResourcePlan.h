// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The resources of one CTA that a kernel uses: shared memory, barriers, warps
// and registers. The plan is made twice: of a schedule, before it is accepted,
// and of the `ws.kernel` that it becomes. No other code counts resources.
#ifndef ATTN_PASSES_SCHEDULE_RESOURCEPLAN_H
#define ATTN_PASSES_SCHEDULE_RESOURCEPLAN_H

#include "attn/dialect/ItemMemory.h"

namespace attn::sched {
class BoundSchedule;
} // namespace attn::sched

namespace attn {

/// The attribute of a kernel that holds the plan of its schedule:
/// `attn-warp-specialize` writes it for `attn-verify-resources`.
constexpr llvm::StringLiteral kResourcesAttr = "attn.resources";
/// Its entry for the bytes of shared memory.
constexpr llvm::StringLiteral kSharedMemory = "shared_memory";

/// The declarations of a kernel that need resources. The plan assigns offsets,
/// barrier ids and warps to them.
struct ResourceNeeds {
  /// A channel or hold in shared memory.
  struct Place {
    llvm::StringRef name;
    int64_t bytes;
    llvm::StringRef over; // empty: it has memory of its own
    bool ofVectors;       // it carries work items or row vectors, not tiles
    int64_t barriers;     // mbarriers
    std::optional<int64_t> offset; // if it is placed already
  };
  struct Barriers {
    llvm::StringRef name;
    int64_t count;
  };
  struct Role {
    llvm::StringRef name;
    int64_t warps, replicas, registers;
    bool isOfOneThread = false;
    bool stores = false; // from shared memory to a tensor
    /// Places in shared memory that its threads write, and that its MMAs read.
    llvm::SmallVector<llvm::StringRef, 2> puts = {}, operands = {};
  };

  static ResourceNeeds of(const sched::BoundSchedule &bound);
  static ResourceNeeds of(ws::KernelOp kernel);

  llvm::SmallVector<Place> places;
  std::optional<int64_t> placesEnd;     // if they are placed already
  llvm::SmallVector<Barriers> edges;    // mbarriers, besides those of places
  llvm::SmallVector<Barriers> meetings; // named barriers: turns, rendezvous
  llvm::SmallVector<Role> roles;
  int64_t replicas() const;
  bool hasVerdict = false, hasMailbox = false, hasClaim = false,
       hasStamps = false;
  int64_t fragmentRegisters = 0; // of a thread, for places in registers
  int64_t tmemColumns = 0;
};

/// Which warps run which role. Warps come in groups that share a register
/// count; neighboring roles with fewer warps than a group share one.
class WarpPlan {
public:
  struct Role {
    llvm::StringRef name;
    int64_t warps, replicas, registers, firstWarp;
    int64_t endWarp() const { return firstWarp + warps * replicas; }
  };

  WarpPlan() = default;
  WarpPlan(llvm::ArrayRef<ResourceNeeds::Role> roles, MachineAttr machine);

  /// Returns the roles in the order of the needs.
  llvm::ArrayRef<Role> getRoles() const { return roles; }
  /// Returns the numbers of groups, warps and threads of a CTA. The last group
  /// is counted as full.
  int64_t groups() const;
  int64_t warps() const { return groups() * group; }
  int64_t threads() const { return warps() * lanes; }
  /// Returns the registers of each thread of a group.
  int64_t registersOf(int64_t group) const;
  /// Returns the registers of the CTA.
  int64_t registers() const;
  /// Returns the registers of each thread at launch.
  int64_t launchRegisters() const;
  /// Returns two roles of one group with different register counts, or nulls.
  std::pair<const Role *, const Role *> disagreeing() const;

private:
  MachineAttr machine;
  int64_t group = 1, lanes = 1;
  llvm::SmallVector<Role> roles;
};

struct ResourcePlan {
  /// `count` places or barriers of `bytes` each, from byte `offset` on.
  struct Allocation {
    llvm::StringRef name;
    int64_t count, bytes, offset;
  };
  /// `count` named barriers, from id `first` on.
  struct Ids {
    llvm::StringRef name;
    int64_t count, first;
  };

  ResourcePlan() = default;
  ResourcePlan(const ResourceNeeds &needs, MachineAttr machine);

  /// In the order of the needs. A place over another one that does not exist
  /// has the offset -1.
  llvm::SmallVector<Allocation> places;
  llvm::SmallVector<Allocation> barriers; // of places and edges
  llvm::SmallVector<Ids> ids; // of roles whose warps meet, turns, rendezvous
  WarpPlan warps;
  ws::ItemMemory items{0, false, false, false};
  /// The ends of places, of barriers, and of all shared memory.
  int64_t placesEnd = 0, barriersEnd = 0, end = 0;
  int64_t stampBytes = 0; // at the end
  int64_t mbarriers = 0;
  int64_t namedBarriers = 1; // including that of the CTA
  int64_t fragmentRegisters = 0, tmemColumns = 0;

  const Allocation *findPlace(llvm::StringRef name) const;
  const Allocation *findBarriers(llvm::StringRef name) const;
  const Ids *findIds(llvm::StringRef name) const;
  /// Returns the attribute `kResourcesAttr`.
  mlir::DictionaryAttr describe(mlir::MLIRContext *context) const;

private:
  void placeTiles(const ResourceNeeds &needs);
  void placeBarriers(const ResourceNeeds &needs, int64_t bytes);
  void nameBarriers(const ResourceNeeds &needs, bool awaitsProducts);
  void placeItems(const ResourceNeeds &needs);
  bool overlap(llvm::StringRef one, llvm::StringRef other) const;
  bool warpsMeet(const ResourceNeeds::Role &role, bool awaitsProducts) const;
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_RESOURCEPLAN_H
