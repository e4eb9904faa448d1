// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which warps of a CTA run which role, and with how many registers.
#ifndef ATTN_CODEGEN_ROLEPLACEMENT_H
#define ATTN_CODEGEN_ROLEPLACEMENT_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

constexpr int64_t warpsPerWarpgroup = 4;

struct PlacedRole {
  ws::RoleOp role;
  int64_t firstWarp;
  bool isSingleThread; // one thread runs it
  bool copies;         // from global memory

  int64_t firstGroup() const { return firstWarp / warpsPerWarpgroup; }
  int64_t endWarp();
};

class RolePlacement {
public:
  /// Reads the kernel before its ops are lowered. Roles of fewer warps than a
  /// warpgroup has share one.
  explicit RolePlacement(ws::KernelOp kernel);

  /// The machine has the threads, and the registers that the roles ask for.
  mlir::LogicalResult check(ws::KernelOp kernel, int64_t registerFile) const;

  llvm::ArrayRef<PlacedRole> getRoles() const { return roles; }
  const PlacedRole &of(ws::RoleOp role) const;
  int64_t getThreads() const { return threads; }
  int64_t getGroups() const;
  /// Registers of a thread of that warpgroup.
  int64_t registersOf(int64_t group) const;
  /// Registers of each thread at the launch.
  int64_t launchRegisters(int64_t registerFile) const;
  /// The warpgroup after those that run the role of warpgroup `group`.
  int64_t endOfGroup(int64_t group) const;

private:
  llvm::SmallVector<PlacedRole> roles;
  int64_t threads = 0;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_ROLEPLACEMENT_H
