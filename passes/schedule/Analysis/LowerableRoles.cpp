// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for roles: one thread runs the roles that fill channels, a group of
// warps those that compute.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Returns whether the warps of a role meet others or give verdicts.
static bool meets(const Lowerable &lowerable, int index) {
  const Instance &instance = lowerable.bound.instances[index];
  const RolePlan &plan = lowerable.bound.plans[index];
  int edges = lowerable.bound.schedule.getEdges().size();
  for (const PlannedActs *acts :
       {&plan.before, &plan.timeStep, &plan.empty, &plan.after}) {
    for (const PlannedAct &act : *acts) {
      bool isTurn = (act.kind == PlannedAct::Signal ||
                     act.kind == PlannedAct::WaitEdge) &&
                    act.target >= edges;
      if (isTurn || act.kind == PlannedAct::Meet) {
        return true;
      }
    }
  }
  return llvm::any_of(instance.runs.set_bits(), [&](int step) {
    return lowerable.kernel.steps[step].holds<tile::RejectOp>();
  });
}

static LogicalResult checkRole(const Lowerable &lowerable, int index,
                               bool isOfOne) {
  const BoundSchedule &bound = lowerable.bound;
  const Role &role = bound.roles[bound.instances[index].role];
  int64_t group = bound.machine.getWarps().getGroup();
  bool isOdd = isOfOne ? role.warps >= group || role.replicas > 1 ||
                             meets(lowerable, index)
                       : role.warps != group;
  return lowerable.refuseIf(isOdd, Mechanism::OddRole, [&] {
    return formatv("role '{0}' of {1} x {2} warps, which {3}", role.name,
                   std::max(role.replicas, 1), role.warps,
                   isOfOne ? "one thread runs" : "works on whole tiles")
        .str();
  });
}

static LogicalResult checkFilled(const Lowerable &lowerable, const Place &place,
                                 const BitVector &ofOne) {
  const BoundSchedule &bound = lowerable.bound;
  BitVector fills(bound.instances.size());
  for (Subtile t = whole; t < bound.subtileCount; ++t) {
    fills |= bound.producers[bound.ringOf(place, t)];
  }
  bool isOfMany = fills.count() > 1 || fills.test(ofOne);
  return lowerable.refuseIf(
      place.channel && isOfMany, Mechanism::FilledByMany, [&] {
        return formatv("channel {0}, which more than one thread fills",
                       quote(place.name))
            .str();
      });
}

/// Checks that a role whose warps add their own rows to memory has put them
/// into a hold itself. One thread adds what other roles have put, and alone
/// transposed tiles.
static LogicalResult checkAdditions(const Lowerable &lowerable, int index) {
  const BoundSchedule &bound = lowerable.bound;
  const Instance &instance = bound.instances[index];
  if (bound.isOfOneThread(instance)) {
    return success();
  }
  for (int number : instance.runs.set_bits()) {
    const KernelStep &step = lowerable.kernel.steps[number];
    auto isHeld = [&](int value) { return bound.holdOf(value) != nullptr; };
    if (!step.holds<tile::ReduceAddOp>() || llvm::none_of(step.reads, isHeld)) {
      continue;
    }
    auto adds = tile::StepOp(step.op).getBody().getOps<tile::ReduceAddOp>();
    bool isTransposed = llvm::any_of(
        adds, [](tile::ReduceAddOp add) { return add.getTransposed(); });
    bool isElsewhere = llvm::any_of(step.reads, [&](int value) {
      int producer = lowerable.kernel.values[value].producer;
      return isHeld(value) && producer >= 0 && !instance.runs[producer];
    });
    if (failed(lowerable.refuseIf(
            isTransposed || isElsewhere, Mechanism::StoredElsewhere, [&] {
              return formatv(
                         "an addition by '{0}' of {1} by the warps of '{2}'",
                         step.name,
                         isTransposed ? "a transposed hold"
                                      : "what another role puts",
                         instance.name)
                  .str();
            }))) {
      return failure();
    }
  }
  return success();
}

LogicalResult sched::checkLowerableRoles(const Lowerable &lowerable) {
  const BoundSchedule &bound = lowerable.bound;
  BitVector ofOne(bound.instances.size());
  for (auto [index, instance] : llvm::enumerate(bound.instances)) {
    if (bound.isOfOneThread(instance)) {
      ofOne.set(index);
    }
  }
  for (const Place &place : bound.places) {
    if (failed(checkFilled(lowerable, place, ofOne))) {
      return failure();
    }
  }
  for (int index = 0, e = bound.instances.size(); index < e; ++index) {
    if (failed(checkAdditions(lowerable, index)) ||
        failed(checkRole(lowerable, index, ofOne[index]))) {
      return failure();
    }
  }
  return success();
}
