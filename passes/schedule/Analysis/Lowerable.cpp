// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29: mechanisms of a legal schedule that the machine has no lowering for.
#include "attn/passes/schedule/BoundSchedule.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class LoweringChecker {
public:
  LoweringChecker(const BoundSchedule &bound, EmitError emitError)
      : bound(bound), kernel(*bound.kernel), emitError(emitError) {}

  LogicalResult check();

private:
  LogicalResult refuseIf(bool says, Mechanism mechanism,
                         const std::string &what);
  LogicalResult checkSteps();
  LogicalResult checkPlace(const Place &place);
  LogicalResult checkChannel(const Place &place);
  LogicalResult checkHold(const Place &place);
  LogicalResult checkHomes(const Place &place);
  LogicalResult checkTile(const Place &place, int value);
  bool isMaterial(const Place &place, int value) const;
  LogicalResult checkConnections();
  LogicalResult checkInstance(int index);
  LogicalResult checkOutside(const PlannedAct &act);
  LogicalResult checkTurn(const PlannedAct &act, bool isShifted);
  LogicalResult checkAct(const PlannedAct &act, bool mayList);
  bool isHoldable(int value) const;
  bool isInSmem(int value) const {
    return llvm::any_of(bound.places, [&](const Place &place) {
      return place.space == Space::Smem && place.carries(value);
    });
  }
  const KernelStep *stepOf(const PlannedAct &act) const {
    bool isStep = act.kind == PlannedAct::Run || act.kind == PlannedAct::Await;
    return isStep ? &kernel.steps[act.target] : nullptr;
  }
  std::string describe(const PlannedAct &act) const {
    StringRef name = act.entry->attr.getTarget().getValue();
    return act.entry->attr.getAct() == Act::Op
               ? quote(name)
               : formatv("'{0}({1})'", stringifyAct(act.entry->attr.getAct()),
                         name)
                     .str();
  }

  const BoundSchedule &bound;
  const KernelModel &kernel;
  EmitError emitError;
};

} // namespace

LogicalResult LoweringChecker::refuseIf(bool says, Mechanism mechanism,
                                        const std::string &what) {
  if (!says || !llvm::is_contained(bound.machine.getLacks(), mechanism)) {
    return success();
  }
  return reject(emitError, "V29",
                formatv("expected what machine '{0}' has a lowering for, got "
                        "{1} ('{2}')",
                        bound.machine.getName().getValue(), what,
                        stringifyMechanism(mechanism)));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult LoweringChecker::checkChannel(const Place &place) {
  std::string channel = formatv("channel {0}", quote(place.name));
  if (failed(refuseIf(
          place.space != Space::Smem, Mechanism::ChannelOutsideSmem,
          formatv("{0} in '{1}'", channel, stringifySpace(place.space))))) {
    return failure();
  }
  for (const auto &cycle : place.cycles) {
    for (int index : cycle) {
      const KernelValue &value = kernel.values[index];
      bool isCopied = value.producer >= 0 && value.origin == Origin::Step &&
                      kernel.steps[value.producer].engine == Engine::Copy;
      if (failed(refuseIf(!isCopied && !value.isWork,
                          Mechanism::FilledByThreads,
                          formatv("{0} of '{1}', which no load makes", channel,
                                  value.name)))) {
        return failure();
      }
      bool isBare = !place.hasFull || !place.hasFree || place.inCluster ||
                    place.host >= 0 || place.cycles.size() > 1;
      if (failed(refuseIf(value.isWork && isBare, Mechanism::BareWork,
                          formatv("{0} of work items without barriers and "
                                  "memory of its own in its CTA",
                                  channel))) ||
          failed(checkTile(place, index))) {
        return failure();
      }
    }
  }
  return success();
}

static bool holdsStore(const KernelStep &step) {
  tile::StepOp op = step.op;
  return !op.getBody().getOps<tile::StoreOp>().empty();
}

/// Registers become shared memory on the way to a store, or to be read as A.
bool LoweringChecker::isHoldable(int value) const {
  return llvm::all_of(kernel.steps, [&](const KernelStep &step) {
    return !llvm::is_contained(step.reads, value) || step.a == value ||
           holdsStore(step);
  });
}

LogicalResult LoweringChecker::checkHold(const Place &place) {
  if (place.space != Space::Smem) {
    return success();
  }
  std::string hold = formatv("hold {0} in 'smem'", quote(place.name));
  if (failed(refuseIf(place.depth > 1 || place.cycles.size() > 1,
                      Mechanism::DeepHold,
                      formatv("{0} of several values or depths", hold)))) {
    return failure();
  }
  int index = place.cycles.front().front();
  const KernelValue &value = kernel.values[index];
  bool isCopied = value.producer >= 0 &&
                  kernel.steps[value.producer].engine == Engine::Copy;
  if (failed(refuseIf(
          isCopied, Mechanism::CopiedHold,
          formatv("{0} of '{1}', which is loaded", hold, value.name))) ||
      failed(refuseIf(value.origin != Origin::Step || !isHoldable(index),
                      Mechanism::HeldByThreads,
                      formatv("{0} of '{1}', which is read other than by a "
                              "store or as A of an MMA",
                              hold, value.name)))) {
    return failure();
  }
  return success();
}

/// Returns whether a place has memory that something other than the step's
/// own threads fills or reads.
bool LoweringChecker::isMaterial(const Place &place, int value) const {
  int producer = kernel.values[value].producer;
  bool isLoaded =
      producer >= 0 && kernel.steps[producer].engine == Engine::Copy;
  return place.carries(value) &&
         (place.channel || place.space == Space::Smem || isLoaded);
}

LogicalResult LoweringChecker::checkHomes(const Place &place) {
  for (const auto &cycle : place.cycles) {
    for (int value : cycle) {
      for (const Place &other : bound.places) {
        bool isSecond = &other < &place && isMaterial(place, value) &&
                        isMaterial(other, value);
        if (failed(refuseIf(isSecond, Mechanism::SeveralHomes,
                            formatv("'{0}' in '{1}' and in '{2}'",
                                    kernel.values[value].name, other.name,
                                    place.name)))) {
          return failure();
        }
      }
    }
  }
  return success();
}

/// A copy fills a slot with a 16-bit tile, and MMAs read it.
LogicalResult LoweringChecker::checkTile(const Place &place, int index) {
  const KernelValue &value = kernel.values[index];
  if (value.isWork) {
    return success();
  }
  std::string what =
      formatv("channel {0} of '{1}'", quote(place.name), value.name);
  bool isRead = llvm::any_of(kernel.steps, [&](const KernelStep &step) {
    return step.engine != Engine::Mma && llvm::is_contained(step.reads, index);
  });
  return failure(
      failed(refuseIf(value.shape.size() != 2 || value.elementBytes != 2,
                      Mechanism::OddChannel,
                      what + ", which is no tile of 16-bit elements")) ||
      failed(refuseIf(isRead, Mechanism::ReadByThreads,
                      what + ", which is read other than by MMAs")));
}

LogicalResult LoweringChecker::checkPlace(const Place &place) {
  std::string name = formatv("place {0}", quote(place.name));
  if (failed(refuseIf(place.parts > 1, Mechanism::Parts,
                      formatv("{0} in parts", name))) ||
      failed(refuseIf(place.cross, Mechanism::OverCross,
                      formatv("{0} over another sub-tile", name))) ||
      failed(refuseIf(!place.only.empty(), Mechanism::SomeReaders,
                      formatv("{0} 'for' some steps", name))) ||
      failed(refuseIf(place.members > 1, Mechanism::SeveralValues,
                      formatv("{0} of several values a cycle", name))) ||
      failed(checkHomes(place))) {
    return failure();
  }
  return place.channel ? checkChannel(place) : checkHold(place);
}

//===----------------------------------------------------------------------===//
// Edges, turns and bodies
//===----------------------------------------------------------------------===//

LogicalResult LoweringChecker::checkConnections() {
  for (EdgeAttr edge : bound.schedule.getEdges()) {
    std::string name = formatv("edge {0}", quote(edge.getName().getValue()));
    if (failed(
            refuseIf(edge.getSplit(), Mechanism::SplitEdge, "split " + name)) ||
        failed(refuseIf(bool(edge.getJoinsPlace()), Mechanism::JoinedEdge,
                        "joined " + name))) {
      return failure();
    }
  }
  for (TurnAttr turn : bound.schedule.getTurns()) {
    if (failed(refuseIf(turn.getUnprimed(), Mechanism::UnprimedTurn,
                        "unprimed turn " + quote(turn.getName().getValue())))) {
      return failure();
    }
  }
  return refuseIf(bound.schedule.getPeel() == Peel::None, Mechanism::NoPeel,
                  "knob 'peel none'");
}

/// Checks which sub-tile an act is for: `mayList` if stores may say it.
LogicalResult LoweringChecker::checkAct(const PlannedAct &act, bool mayList) {
  if (!act.entry) {
    return success();
  }
  const KernelStep *step = stepOf(act);
  bool isWhole = act.entry->attr.getSubtile() < 0;
  bool isStore = step && step->engine == Engine::Store;
  return failure(failed(refuseIf(act.entry->part >= 0, Mechanism::Parts,
                                 describe(act) + " in parts")) ||
                 failed(refuseIf(!isWhole && !(isStore && mayList),
                                 Mechanism::ListedSubtile,
                                 describe(act) + " of one sub-tile")) ||
                 failed(refuseIf(act.kind == PlannedAct::Put,
                                 Mechanism::FilledByThreads, describe(act))));
}

LogicalResult LoweringChecker::checkOutside(const PlannedAct &act) {
  if (!act.entry) {
    return success();
  }
  const KernelStep *step = stepOf(act);
  bool isProduct = step && step->engine == Engine::Mma;
  bool isStoreAwait =
      act.kind == PlannedAct::Await && step && step->engine == Engine::Store;
  return failure(
      failed(refuseIf(act.guard != Guard::Always, Mechanism::NonemptyGuard,
                      formatv("guard '{0}' of {1}", stringifyGuard(act.guard),
                              describe(act)))) ||
      failed(refuseIf(isProduct, Mechanism::OuterProduct,
                      describe(act) + " outside the loop")) ||
      failed(
          refuseIf(act.shift != 0 && !isStoreAwait, Mechanism::OuterShift,
                   formatv("a shift of {0} outside the loop", describe(act)))));
}

LogicalResult LoweringChecker::checkTurn(const PlannedAct &act,
                                         bool isShifted) {
  if (!act.entry) {
    return success();
  }
  bool makesValue = act.kind == PlannedAct::Wait;
  if (const KernelStep *step = stepOf(act)) {
    makesValue |=
        act.kind == PlannedAct::Run &&
        llvm::any_of(step->writes, [&](int value) { return !isInSmem(value); });
  }
  bool guarded = act.guard != Guard::Always;
  return failure(failed(refuseIf(act.shift > 1, Mechanism::LongShift,
                                 formatv("a shift of {0} of {1}", act.shift,
                                         describe(act)))) ||
                 failed(refuseIf(
                     act.guard == Guard::LastNonempty, Mechanism::NonemptyGuard,
                     formatv("guard '{0}' of {1}", stringifyGuard(act.guard),
                             describe(act)))) ||
                 failed(refuseIf(act.guard == Guard::Last && !isShifted,
                                 Mechanism::UnshiftedLast,
                                 "guard 'last' in a loop without shifts")) ||
                 failed(refuseIf(guarded && makesValue, Mechanism::GuardedValue,
                                 formatv("a guard of {0}, which makes a value",
                                         describe(act)))));
}

LogicalResult LoweringChecker::checkInstance(int index) {
  const RolePlan &plan = bound.plans[index];
  for (const PlannedActs *acts : {&plan.before, &plan.after}) {
    for (const PlannedAct &act : *acts) {
      if (failed(checkAct(act, bound.instances[index].replica < 0)) ||
          failed(checkOutside(act))) {
        return failure();
      }
    }
  }
  bool isShifted = llvm::any_of(
      plan.turn, [](const PlannedAct &act) { return act.shift > 0; });
  for (const PlannedAct &act : plan.turn) {
    if (failed(checkAct(act, /*mayList=*/false)) ||
        failed(checkTurn(act, isShifted))) {
      return failure();
    }
  }
  return success();
}

LogicalResult LoweringChecker::checkSteps() {
  for (const KernelStep &step : kernel.steps) {
    tile::StepOp op = step.op;
    for (auto mma : op.getBody().getOps<tile::MmaOp>()) {
      if (failed(refuseIf(
              mma.getTransposeA(), Mechanism::TransposedA,
              formatv("the transposed operand A of '{0}'", step.name)))) {
        return failure();
      }
    }
  }
  return success();
}

LogicalResult LoweringChecker::check() {
  if (failed(refuseIf(true, Mechanism::Anything, "a schedule"))) {
    return failure();
  }
  if (failed(checkSteps())) {
    return failure();
  }
  for (const Place &place : bound.places) {
    if (failed(checkPlace(place))) {
      return failure();
    }
  }
  if (failed(checkConnections())) {
    return failure();
  }
  for (BodyAttr body : bound.schedule.getBodies()) {
    if (failed(refuseIf(body.getReplica() >= 0, Mechanism::ReplicaBody,
                        "a body for one replica of role " +
                            quote(body.getRole().getValue())))) {
      return failure();
    }
  }
  for (int i = 0, e = bound.instances.size(); i < e; ++i) {
    if (failed(checkInstance(i))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BoundSchedule::checkLowering(EmitError emitError) const {
  return LoweringChecker(*this, emitError).check();
}
