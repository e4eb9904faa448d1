// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RolePlacement.h"
#include "attn/dialect/RegisterBudget.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static int64_t warpsOf(ws::RoleOp role) {
  return role.getWarps() * role.getReplicas();
}

template <typename Op> static bool has(ws::RoleOp role) {
  return role->walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

int64_t PlacedRole::endWarp() { return firstWarp + warpsOf(role); }

RolePlacement::RolePlacement(ws::KernelOp kernel, MachineAttr machine)
    : machine(machine), plan(ResourceNeeds::of(kernel).roles, machine) {
  for (auto [role, planned] :
       llvm::zip(kernel.getBody().getOps<ws::RoleOp>(), plan.getRoles())) {
    roles.push_back({role, planned.firstWarp, role.isSingleThread(),
                     has<ws::CopyOp>(role)});
  }
}

const PlacedRole &RolePlacement::of(ws::RoleOp role) const {
  return *llvm::find_if(
      roles, [&](const PlacedRole &placed) { return placed.role == role; });
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

int64_t RolePlacement::ctas() const {
  int64_t alone = attn::launchRegisters(machine, getThreads());
  return launchRegisters() < alone
             ? machine.getRegisterCount() / (launchRegisters() * getThreads())
             : 1;
}

LogicalResult RolePlacement::check(ws::KernelOp kernel) const {
  for (PlacedRole placed : roles) {
    if (failed(checkReplicas(placed))) {
      return failure();
    }
  }
  if (auto [one, other] = plan.disagreeing(); one) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected roles '")
           << one->name << "' and '" << other->name
           << "', which share a group of warps, to agree on registers, got "
           << one->registers << " and " << other->registers;
  }
  WarpInfoAttr warps = machine.getWarps();
  if (int64_t most = warps.getMost() * warps.getLanes(); getThreads() > most) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << most << " threads over all roles, got " << getThreads();
  }
  // Groups redistribute the registers of the launch: a larger total would wait
  // forever.
  int64_t atLaunch = launchRegisters() * getThreads();
  if (plan.registers() > atLaunch) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << atLaunch << " registers over all roles, with which "
           << getThreads() << " threads are launched, got " << plan.registers();
  }
  return success();
}
