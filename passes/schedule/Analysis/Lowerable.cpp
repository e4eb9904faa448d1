// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for a whole schedule, and for its edges, turns, bodies and knobs.
#include "Lowerable.h"
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

LogicalResult Lowerable::refuseIf(bool says, Mechanism mechanism,
                                  function_ref<std::string()> what) const {
  if (!says || !llvm::is_contained(bound.machine.getLacks(), mechanism)) {
    return success();
  }
  return reject(emitError, "V29",
                formatv("expected a schedule that machine '{0}' has a lowering "
                        "for, got {1} ('{2}')",
                        bound.machine.getName().getValue(), what(),
                        stringifyMechanism(mechanism)));
}

static LogicalResult checkEdge(const Lowerable &lowerable, EdgeAttr edge) {
  auto describe = [&](StringRef what) {
    return [&edge, what] {
      return formatv("{0} {1}", what, quote(edge.getName().getValue())).str();
    };
  };
  return failure(
      failed(lowerable.refuseIf(edge.getSplit(), Mechanism::SplitEdge,
                                describe("split edge"))) ||
      failed(lowerable.refuseIf(bool(edge.getJoinsPlace()),
                                Mechanism::JoinedEdge,
                                describe("joined edge"))) ||
      failed(lowerable.refuseIf(edge.getCredits() > 1, Mechanism::ManyCredits,
                                describe("more than one credit of edge"))));
}

static LogicalResult checkConnections(const Lowerable &lowerable) {
  ScheduleAttr schedule = lowerable.bound.schedule;
  for (EdgeAttr edge : schedule.getEdges()) {
    if (failed(checkEdge(lowerable, edge))) {
      return failure();
    }
  }
  for (TurnAttr turn : schedule.getTurns()) {
    if (failed(lowerable.refuseIf(
            turn.getUnprimed(), Mechanism::UnprimedTurn, [&] {
              return "unprimed turn " + quote(turn.getName().getValue());
            }))) {
      return failure();
    }
  }
  for (BodyAttr body : schedule.getBodies()) {
    if (failed(lowerable.refuseIf(body.getReplica() >= 0,
                                  Mechanism::ReplicaBody, [&] {
                                    return "a body for one replica of role " +
                                           quote(body.getRole().getValue());
                                  }))) {
      return failure();
    }
  }
  return lowerable.refuseIf(schedule.getPeel() == Peel::None, Mechanism::NoPeel,
                            [] { return "knob 'peel none'"; });
}

LogicalResult sched::checkLowering(const BoundSchedule &bound,
                                   EmitError emitError) {
  Lowerable lowerable{bound, *bound.kernel, emitError};
  return failure(failed(lowerable.refuseIf(true, Mechanism::Anything,
                                           [] { return "a schedule"; })) ||
                 failed(checkLowerableSteps(lowerable)) ||
                 failed(checkLowerablePlaces(lowerable)) ||
                 failed(checkLowerableCuts(lowerable)) ||
                 failed(checkLowerableShapes(lowerable)) ||
                 failed(checkConnections(lowerable)) ||
                 failed(checkLowerableActs(lowerable)) ||
                 failed(checkLowerableRoles(lowerable)));
}
