// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RolePlacement.h"
#include "attn/dialect/RegisterBudget.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static int64_t warpsOf(ws::RoleOp role) {
  return role.getWarps() * role.getReplicas();
}

static bool hasCopies(ws::RoleOp role) {
  return role->walk([](ws::CopyOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

int64_t PlacedRole::endWarp() { return firstWarp + warpsOf(role); }

RolePlacement::RolePlacement(ws::KernelOp kernel, MachineAttr machine)
    : machine(machine), warps(machine.getWarps()),
      registers(machine.getRegisters()) {
  int64_t next = 0;
  bool sharing = false;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    bool small = int64_t(role.getWarps()) < groupWarps();
    if (!small || !sharing) {
      next = llvm::alignTo(next, groupWarps());
    }
    roles.push_back({role, next, role.isSingleThread(), hasCopies(role)});
    next += warpsOf(role);
    sharing = small;
  }
  threads = llvm::alignTo(next, groupWarps()) * warps.getLanes();
}

const PlacedRole &RolePlacement::of(ws::RoleOp role) const {
  return *llvm::find_if(
      roles, [&](const PlacedRole &placed) { return placed.role == role; });
}

int64_t RolePlacement::getGroups() const {
  return threads / (groupWarps() * warps.getLanes());
}

int64_t RolePlacement::registersOf(int64_t group) const {
  for (PlacedRole placed : roles) {
    int64_t last = (placed.endWarp() - 1) / groupWarps();
    if (groupOf(placed) <= group && group <= last) {
      return placed.role.getRegs();
    }
  }
  return 0;
}

int64_t RolePlacement::launchRegisters() const {
  return attn::launchRegisters(machine, threads);
}

int64_t RolePlacement::endOfGroup(int64_t group) const {
  int64_t end = group + 1;
  for (PlacedRole placed : roles) {
    ws::RoleOp role = placed.role;
    if (placed.firstWarp == group * groupWarps()) {
      end = int64_t(role.getWarps()) < groupWarps()
                ? group + 1
                : group + warpsOf(role) / groupWarps();
    }
  }
  return end;
}

/// Threads of a role find the first thread of their replica from the bits of
/// their number.
static LogicalResult checkReplicas(PlacedRole placed) {
  int64_t warps = placed.role.getWarps();
  if (placed.isSingleThread ||
      (llvm::isPowerOf2_64(warps) && placed.firstWarp % warps == 0)) {
    return success();
  }
  return placed.role.emitOpError("attn-lower-to-nvvm: expected a power of two "
                                 "of warps from a multiple of it on, got ")
         << warps << " from warp " << placed.firstWarp << " on";
}

LogicalResult RolePlacement::check(ws::KernelOp kernel) const {
  for (PlacedRole placed : roles) {
    if (failed(checkReplicas(placed))) {
      return failure();
    }
  }
  if (int64_t most = warps.getMost() * warps.getLanes(); threads > most) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << most << " threads over all roles, got " << threads;
  }
  int64_t total = 0;
  for (int64_t group = 0; group < getGroups(); ++group) {
    total += registersOf(group) * groupWarps() * warps.getLanes();
  }
  // Groups redistribute the registers of the launch: a larger total would wait
  // forever.
  int64_t atLaunch = launchRegisters() * threads;
  if (total > atLaunch) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << atLaunch << " registers over all roles, with which " << threads
           << " threads are launched, got " << total;
  }
  return success();
}
