// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The resources of one CTA that a kernel takes: shared memory, barriers, warps
// and registers. The same plan is made of a schedule, before it is accepted,
// and of the `ws.kernel` that it becomes; no other code counts resources.
#ifndef ATTN_PASSES_SCHEDULE_RESOURCEPLAN_H
#define ATTN_PASSES_SCHEDULE_RESOURCEPLAN_H

#include "attn/dialect/ItemMemory.h"

namespace attn::sched {
class BoundSchedule;
} // namespace attn::sched

namespace attn {

/// The attribute with which a kernel carries the plan of its schedule to
/// `attn-verify-resources`, written by `attn-warp-specialize`.
constexpr llvm::StringLiteral kResourcesAttr = "attn.resources";
/// An entry of it: bytes of shared memory.
constexpr llvm::StringLiteral kSharedMemory = "shared_memory";

/// What a kernel declares, without addresses, ids and numbers of warps.
struct ResourceNeeds {
  /// A channel or hold in shared memory.
  struct Place {
    llvm::StringRef name;
    int64_t bytes;
    llvm::StringRef over;          // empty: it has memory of its own
    bool ofItems;                  // it carries work items
    int64_t barriers;              // in memory
    std::optional<int64_t> offset; // if it is placed already
  };
  struct Barriers {
    llvm::StringRef name;
    int64_t count;
  };
  struct Role {
    llvm::StringRef name;
    int64_t warps, replicas, registers;
    bool isOfOneThread = false, stores = false;
    /// Places in shared memory that its threads write, and that its MMAs read.
    llvm::SmallVector<llvm::StringRef, 2> puts = {}, operands = {};
  };

  static ResourceNeeds of(const sched::BoundSchedule &bound);
  static ResourceNeeds of(ws::KernelOp kernel);

  llvm::SmallVector<Place> places;
  std::optional<int64_t> placesEnd;     // if they are placed already
  llvm::SmallVector<Barriers> edges;    // in memory, beside those of places
  llvm::SmallVector<Barriers> meetings; // turns and rendezvous
  llvm::SmallVector<Role> roles;
  int64_t replicas() const;
  bool hasVerdict = false, hasMailbox = false, hasStamps = false;
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

  /// In the order of the needs.
  llvm::ArrayRef<Role> getRoles() const { return roles; }
  int64_t groups() const;
  /// Of a CTA, in whole groups.
  int64_t warps() const { return groups() * group; }
  int64_t threads() const { return warps() * lanes; }
  /// Registers of a thread of that group.
  int64_t registersOf(int64_t group) const;
  /// Registers of the CTA.
  int64_t registers() const;
  /// Registers of each thread at launch.
  int64_t launchRegisters() const;
  /// Two roles of a group with different register counts; null if there are
  /// none.
  std::pair<const Role *, const Role *> disagreeing() const;

private:
  MachineAttr machine;
  int64_t group = 1, lanes = 1;
  llvm::SmallVector<Role> roles;
};

struct ResourcePlan {
  /// `count` places or barriers of `bytes` each, from byte `offset` on.
  struct Part {
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

  /// In the order of the needs. The offset of a place over one that has no
  /// memory before it is -1.
  llvm::SmallVector<Part> places;
  llvm::SmallVector<Part> barriers; // of places and edges
  llvm::SmallVector<Ids> ids; // of roles whose warps meet, turns, rendezvous
  WarpPlan warps;
  ws::ItemMemory items{0, false, false};
  /// Ends of places, of barriers, and of everything.
  int64_t placesEnd = 0, barriersEnd = 0, end = 0;
  int64_t stampBytes = 0;    // the last ones
  int64_t mbarriers = 0;     // all barriers in memory
  int64_t namedBarriers = 1; // with that of the CTA
  int64_t fragmentRegisters = 0, tmemColumns = 0;

  const Part *findPlace(llvm::StringRef name) const;
  const Part *findBarriers(llvm::StringRef name) const;
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
