// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RolePlacement.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {
constexpr int64_t warpThreads = 32;
constexpr int64_t warpgroupThreads = warpsPerWarpgroup * warpThreads;
constexpr int64_t maxThreadRegisters = 255;
constexpr int64_t maxThreads = 1024;
} // namespace

static int64_t warpsOf(ws::RoleOp role) {
  return role.getWarps() * role.getReplicas();
}

static bool hasCopies(ws::RoleOp role) {
  return role->walk([](ws::CopyOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

int64_t PlacedRole::endWarp() { return firstWarp + warpsOf(role); }

RolePlacement::RolePlacement(ws::KernelOp kernel) {
  int64_t next = 0;
  bool sharing = false;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    bool small = role.getWarps() < warpsPerWarpgroup;
    if (!small || !sharing) {
      next = llvm::alignTo(next, warpsPerWarpgroup);
    }
    roles.push_back({role, next, role.isSingleThread(), hasCopies(role)});
    next += warpsOf(role);
    sharing = small;
  }
  threads = llvm::alignTo(next, warpsPerWarpgroup) * warpThreads;
}

const PlacedRole &RolePlacement::of(ws::RoleOp role) const {
  return *llvm::find_if(
      roles, [&](const PlacedRole &placed) { return placed.role == role; });
}

int64_t RolePlacement::getGroups() const { return threads / warpgroupThreads; }

int64_t RolePlacement::registersOf(int64_t group) const {
  for (PlacedRole placed : roles) {
    int64_t last = (placed.endWarp() - 1) / warpsPerWarpgroup;
    if (placed.firstGroup() <= group && group <= last) {
      return placed.role.getRegs();
    }
  }
  return 0;
}

int64_t RolePlacement::launchRegisters(int64_t registerFile) const {
  return std::min(maxThreadRegisters, registerFile / threads) / 8 * 8;
}

int64_t RolePlacement::endOfGroup(int64_t group) const {
  int64_t end = group + 1;
  for (PlacedRole placed : roles) {
    ws::RoleOp role = placed.role;
    if (placed.firstWarp == group * warpsPerWarpgroup) {
      end = role.getWarps() < warpsPerWarpgroup
                ? group + 1
                : group + warpsOf(role) / warpsPerWarpgroup;
    }
  }
  return end;
}

LogicalResult RolePlacement::check(ws::KernelOp kernel,
                                   int64_t registerFile) const {
  if (threads > maxThreads) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << maxThreads << " threads over all roles, got " << threads;
  }
  int64_t total = 0;
  for (int64_t group = 0; group < getGroups(); ++group) {
    total += registersOf(group) * warpgroupThreads;
  }
  // setmaxnreg hands on what the CTA was launched with: more would never come.
  int64_t atLaunch = launchRegisters(registerFile) * threads;
  if (total > atLaunch) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << atLaunch << " registers over all roles, with which " << threads
           << " threads are launched, got " << total;
  }
  return success();
}
