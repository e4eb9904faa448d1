// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine resources that a schedule needs: V10 to V14.
#include "../ScheduleModel.h"
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class ResourceChecker {
public:
  ResourceChecker(const BoundSchedule &bound, const ResourcePlan &plan,
                  EmitError emitError)
      : bound(bound), machine(bound.machine), plan(plan), emitError(emitError) {
  }

  LogicalResult check();

private:
  LogicalResult checkPlace(const Place &place);
  LogicalResult checkSpaces();
  LogicalResult checkRole(const Role &role);
  LogicalResult checkRoles();
  LogicalResult checkBarriers();
  bool hasPlacesInRegisters(const Instance &instance);
  LogicalResult checkFragments();

  const BoundSchedule &bound;
  MachineAttr machine;
  const ResourcePlan &plan;
  EmitError emitError;
};

} // namespace

LogicalResult ResourceChecker::checkPlace(const Place &place) {
  if (!machine.findSpace(place.space)) {
    return reject(emitError, "V20",
                  formatv("expected '{0}' in a space of machine '{1}', got "
                          "'{2}'",
                          place.name, machine.getName().getValue(),
                          stringifySpace(place.space)));
  }
  int64_t bytes = 0;
  std::string names;
  for (int host : place.hosts) {
    bytes += bound.places[host].bytes;
    names +=
        (names.empty() ? "'" : " + '") + bound.places[host].name.str() + "'";
  }
  if (place.hosts.empty() || place.bytes <= bytes) {
    return success();
  }
  return reject(emitError, "V10",
                formatv("expected '{0}' to fit over {1} of {2} bytes, got {3}",
                        place.name, names, bytes, place.bytes));
}

LogicalResult ResourceChecker::checkSpaces() {
  if (plan.end > machine.getSmemLimit()) {
    return reject(
        emitError, "V11",
        formatv("expected at most {0} bytes of shared memory, got {1}",
                machine.getSmemLimit(), plan.end));
  }
  SpaceInfoAttr tmem = machine.findSpace(Space::Tmem);
  if (tmem && plan.tmemColumns > tmem.getCapacity()) {
    return reject(emitError, "V12",
                  formatv("expected at most {0} columns of tensor memory, got "
                          "{1}",
                          tmem.getCapacity(), plan.tmemColumns));
  }
  return success();
}

LogicalResult ResourceChecker::checkRole(const Role &role) {
  RegisterInfoAttr registers = machine.getRegisters();
  if (role.regs >= registers.getLowest() &&
      role.regs <= registers.getHighest() &&
      role.regs % registers.getGranule() == 0 && role.warps >= 1) {
    return success();
  }
  return reject(emitError, "V13",
                formatv("expected role '{0}' to have warps with a multiple "
                        "of {1} registers in {2}..{3}, got {4} warps with "
                        "{5}",
                        role.name, registers.getGranule(),
                        registers.getLowest(), registers.getHighest(),
                        role.warps, role.regs));
}

LogicalResult ResourceChecker::checkRoles() {
  const WarpPlan &warps = plan.warps;
  if (llvm::any_of(bound.roles,
                   [&](const Role &role) { return failed(checkRole(role)); })) {
    return failure();
  }
  if (auto [one, other] = warps.disagreeing(); one) {
    return reject(emitError, "V13",
                  formatv("expected roles '{0}' and '{1}', which share a "
                          "warpgroup, to agree on registers, got {2} and {3}",
                          one->name, other->name, one->registers,
                          other->registers));
  }
  if (warps.warps() > machine.getWarps().getMost()) {
    return reject(emitError, "V13",
                  formatv("expected at most {0} warps over all roles, got {1}",
                          machine.getWarps().getMost(), warps.warps()));
  }
  int64_t registers = warps.registers();
  if (registers > machine.getRegisterCount()) {
    return reject(emitError, "V13",
                  formatv("expected at most {0} registers over all roles, got "
                          "{1}",
                          machine.getRegisterCount(), registers));
  }
  // Roles share the registers of the launch, which are the same for every
  // thread.
  int64_t launched = warps.threads() * warps.launchRegisters();
  if (registers > launched) {
    return reject(emitError, "V13",
                  formatv("expected at most {0} registers over all roles, with "
                          "which {1} threads are launched, got {2}",
                          launched, warps.threads(), registers));
  }
  return success();
}

LogicalResult ResourceChecker::checkBarriers() {
  BarrierInfoAttr barriers = machine.getBarriers();
  if (plan.namedBarriers <= barriers.getNamed() &&
      plan.mbarriers <= barriers.getMemory()) {
    return success();
  }
  return reject(emitError, "V14",
                formatv("expected at most {0} named barriers and {1} in "
                        "memory, got {2} and {3}",
                        barriers.getNamed(), barriers.getMemory(),
                        plan.namedBarriers, plan.mbarriers));
}

bool ResourceChecker::hasPlacesInRegisters(const Instance &instance) {
  return llvm::any_of(bound.places, [&](const Place &place) {
    return place.space == Space::Reg &&
           llvm::any_of(place.cycles, [&](ArrayRef<int> values) {
             return llvm::any_of(values, [&](int value) {
               return bound.computes(instance, value);
             });
           });
  });
}

LogicalResult ResourceChecker::checkFragments() {
  RegisterInfoAttr registers = machine.getRegisters();
  int64_t limit = registers.getHighest();
  for (const Instance &instance : bound.instances) {
    const Role &role = bound.roles[instance.role];
    if (hasPlacesInRegisters(instance)) {
      int64_t reserve = role.regs <= registers.getSmall()
                            ? registers.getReserveSmall()
                            : registers.getReserve();
      limit = std::min(limit, role.regs - reserve);
    }
  }
  if (plan.fragmentRegisters <= limit) {
    return success();
  }
  std::string parts;
  for (const Place &place : bound.places) {
    if (place.space == Space::Reg && place.hosts.empty()) {
      parts += (parts.empty() ? "'" : ", '") + place.name.str() + "'";
    }
  }
  return reject(emitError, "V13",
                formatv("expected places in registers to take at most {0} a "
                        "thread, got {1} for {2}",
                        limit, plan.fragmentRegisters, parts));
}

LogicalResult ResourceChecker::check() {
  for (const Place &place : bound.places) {
    if (failed(checkPlace(place))) {
      return failure();
    }
  }
  return success(succeeded(checkSpaces()) && succeeded(checkRoles()) &&
                 succeeded(checkBarriers()) && succeeded(checkFragments()));
}

FailureOr<ResourcePlan> sched::checkResources(const BoundSchedule &bound,
                                              EmitError emitError) {
  ResourcePlan plan(ResourceNeeds::of(bound), bound.machine);
  if (failed(ResourceChecker(bound, plan, emitError).check())) {
    return failure();
  }
  return plan;
}
