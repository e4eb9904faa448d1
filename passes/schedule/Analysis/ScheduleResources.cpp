// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine resources that a schedule needs: V10 to V14.
#include "../ScheduleModel.h"
#include "attn/dialect/ItemMemory.h"
#include "attn/dialect/RegisterBudget.h"
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class ResourceChecker {
public:
  ResourceChecker(const BoundSchedule &bound, ScheduleStatistics &statistics,
                  EmitError emitError)
      : bound(bound), machine(bound.machine), statistics(statistics),
        emitError(emitError) {}

  LogicalResult check();

private:
  LogicalResult countPlace(const Place &place);
  void countBarriers();
  LogicalResult checkSpaces();
  LogicalResult checkRoles();
  bool hasPlacesInRegisters(const Instance &instance);
  LogicalResult checkFragments();

  const BoundSchedule &bound;
  MachineAttr machine;
  ScheduleStatistics &statistics;
  EmitError emitError;
};

} // namespace

LogicalResult ResourceChecker::countPlace(const Place &place) {
  SpaceInfoAttr space = machine.findSpace(place.space);
  if (!space) {
    return reject(emitError, "V20",
                  formatv("expected '{0}' in a space of machine '{1}', got "
                          "'{2}'",
                          place.name, machine.getName().getValue(),
                          stringifySpace(place.space)));
  }
  if (place.host >= 0) {
    const Place &host = bound.places[place.host];
    if (place.bytes <= host.bytes) {
      return success();
    }
    return reject(emitError, "V10",
                  formatv("expected '{0}' to fit over '{1}' of {2} bytes, got "
                          "{3}",
                          place.name, host.name, host.bytes, place.bytes));
  }
  if (space.getIsPrivate()) {
    // Each thread of the warp group that owns a sub-tile has its share of it.
    int64_t threads =
        machine.getWarps().getLanes() * machine.getWarps().getGroup();
    statistics.fragmentRegisters +=
        llvm::divideCeil(place.bytes, space.getUnit() * threads *
                                          place.subtiles(bound.subtileCount));
  } else if (place.space == Space::Smem) {
    statistics.smemBytes += place.bytes;
  } else {
    statistics.tmemColumns += llvm::divideCeil(place.bytes, space.getUnit());
  }
  return success();
}

void ResourceChecker::countBarriers() {
  for (const Place &place : bound.places) {
    statistics.mbarriers += place.subtiles(bound.subtileCount) *
                            int64_t(place.depth) *
                            (place.parts * place.hasFull + place.hasFree);
  }
  for (auto [edge, attr] : llvm::zip(bound.edges, bound.schedule.getEdges())) {
    if (edge.joins < 0) {
      statistics.mbarriers += edge.cut ? bound.subtileCount : 1;
    }
  }
  // Turns and rendezvous are hardware barriers.
  statistics.namedBarriers = bound.rendezvous.size() + bound.edges.size() -
                             bound.schedule.getEdges().size();
  int64_t end = statistics.smemBytes +
                statistics.mbarriers * machine.getBarriers().getBytes();
  statistics.smemBytes = ws::ItemMemory(end, bound.kernel->mayReject,
                                        ws::hasMailbox(bound.kernel->config))
                             .end;
}

LogicalResult ResourceChecker::checkSpaces() {
  if (statistics.smemBytes > machine.getSmemLimit()) {
    return reject(
        emitError, "V11",
        formatv("expected at most {0} bytes of shared memory, got {1}",
                machine.getSmemLimit(), statistics.smemBytes));
  }
  SpaceInfoAttr tmem = machine.findSpace(Space::Tmem);
  if (tmem && statistics.tmemColumns > tmem.getCapacity()) {
    return reject(emitError, "V12",
                  formatv("expected at most {0} columns of tensor memory, got "
                          "{1}",
                          tmem.getCapacity(), statistics.tmemColumns));
  }
  return success();
}

LogicalResult ResourceChecker::checkRoles() {
  RegisterInfoAttr registers = machine.getRegisters();
  int64_t group = machine.getWarps().getGroup();
  int64_t threads = group * machine.getWarps().getLanes();
  int64_t partialWarps = 0, partialRegs = 0, groups = 0;
  StringRef partialRole;
  for (const Role &role : bound.roles) {
    if (role.regs < registers.getLowest() ||
        role.regs > registers.getHighest() ||
        role.regs % registers.getGranule() != 0 || role.warps < 1) {
      return reject(emitError, "V13",
                    formatv("expected role '{0}' to have warps with a multiple "
                            "of {1} registers in {2}..{3}, got {4} warps with "
                            "{5}",
                            role.name, registers.getGranule(),
                            registers.getLowest(), registers.getHighest(),
                            role.warps, role.regs));
    }
    int64_t warps = role.warps * std::max(role.replicas, 1);
    if (role.warps % group == 0) {
      statistics.registers += warps / group * role.regs * threads;
      groups += warps / group;
      continue;
    }
    // Roles smaller than a group share a group, and its register count.
    if (partialWarps && partialRegs != role.regs) {
      return reject(emitError, "V13",
                    formatv("expected roles '{0}' and '{1}', which share a "
                            "warpgroup, to agree on registers, got {2} and {3}",
                            partialRole, role.name, partialRegs, role.regs));
    }
    partialWarps += warps;
    partialRegs = role.regs;
    partialRole = role.name;
  }
  statistics.registers +=
      llvm::divideCeil(partialWarps, group) * threads * partialRegs;
  if (statistics.registers > machine.getRegisterCount()) {
    return reject(emitError, "V13",
                  formatv("expected at most {0} registers over all roles, got "
                          "{1}",
                          machine.getRegisterCount(), statistics.registers));
  }
  groups += llvm::divideCeil(partialWarps, group);
  if (groups * group > machine.getWarps().getMost()) {
    return reject(emitError, "V13",
                  formatv("expected at most {0} warps over all roles, got {1}",
                          machine.getWarps().getMost(), groups * group));
  }
  // Roles share the registers of the launch, which are the same for every
  // thread.
  int64_t launched =
      groups * threads * launchRegisters(machine, groups * threads);
  if (statistics.registers > launched) {
    return reject(emitError, "V13",
                  formatv("expected at most {0} registers over all roles, with "
                          "which {1} threads are launched, got {2}",
                          launched, groups * threads, statistics.registers));
  }
  return success();
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
  if (statistics.fragmentRegisters <= limit) {
    return success();
  }
  std::string parts;
  for (const Place &place : bound.places) {
    if (place.space == Space::Reg && place.host < 0) {
      parts += (parts.empty() ? "'" : ", '") + place.name.str() + "'";
    }
  }
  return reject(emitError, "V13",
                formatv("expected places in registers to take at most {0} a "
                        "thread, got {1} for {2}",
                        limit, statistics.fragmentRegisters, parts));
}

LogicalResult ResourceChecker::check() {
  for (const Place &place : bound.places) {
    if (failed(countPlace(place))) {
      return failure();
    }
  }
  countBarriers();
  if (failed(checkSpaces()) || failed(checkRoles())) {
    return failure();
  }
  BarrierInfoAttr barriers = machine.getBarriers();
  if (statistics.namedBarriers > barriers.getNamed() ||
      statistics.mbarriers > barriers.getMemory()) {
    return reject(emitError, "V14",
                  formatv("expected at most {0} named barriers and {1} in "
                          "memory, got {2} and {3}",
                          barriers.getNamed(), barriers.getMemory(),
                          statistics.namedBarriers, statistics.mbarriers));
  }
  return checkFragments();
}

LogicalResult sched::checkResources(const BoundSchedule &bound,
                                    ScheduleStatistics &statistics,
                                    EmitError emitError) {
  statistics = ScheduleStatistics();
  return ResourceChecker(bound, statistics, emitError).check();
}
