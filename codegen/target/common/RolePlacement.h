// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which warps of a CTA run which role, and with how many registers: the roles
// of a kernel, placed by WarpPlan.
#ifndef ATTN_CODEGEN_ROLEPLACEMENT_H
#define ATTN_CODEGEN_ROLEPLACEMENT_H

#include "attn/passes/schedule/ResourcePlan.h"

namespace attn::codegen {

struct PlacedRole {
  ws::RoleOp role;
  int64_t firstWarp;
  bool isSingleThread; // a single thread runs it
  bool copies;         // it loads from global memory

  int64_t endWarp();
};

class RolePlacement {
public:
  /// Reads the kernel before its ops are lowered.
  RolePlacement(ws::KernelOp kernel, MachineAttr machine);

  /// Checks that the machine has enough threads and registers for the roles,
  /// and that replicas begin where their threads can compute it.
  mlir::LogicalResult check(ws::KernelOp kernel) const;

  llvm::ArrayRef<PlacedRole> getRoles() const { return roles; }
  const PlacedRole &of(ws::RoleOp role) const;
  int64_t getThreads() const { return plan.threads(); }
  int64_t getGroups() const { return plan.groups(); }
  /// Warps of a group.
  int64_t groupWarps() const { return machine.getWarps().getGroup(); }
  /// The group of the role's first warp.
  int64_t groupOf(const PlacedRole &placed) const {
    return placed.firstWarp / groupWarps();
  }
  /// Registers of a thread of that group.
  int64_t registersOf(int64_t group) const { return plan.registersOf(group); }
  /// Registers of each thread at the launch.
  int64_t launchRegisters() const { return plan.launchRegisters(); }
  /// The number of CTAs for which a multiprocessor has registers at launch, if
  /// the launch uses fewer registers than a CTA alone could; otherwise 1.
  int64_t ctas() const;
  /// The group after those of the role that runs in group `group`.
  int64_t endOfGroup(int64_t group) const;

private:
  MachineAttr machine;
  WarpPlan plan;
  llvm::SmallVector<PlacedRole> roles;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_ROLEPLACEMENT_H
