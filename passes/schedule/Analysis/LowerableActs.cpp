// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for the acts of a role's plan, list by list.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class ActChecker {
public:
  ActChecker(const Lowerable &lowerable, int index)
      : lowerable(lowerable), kernel(lowerable.kernel),
        instance(lowerable.bound.instances[index]),
        plan(lowerable.bound.plans[index]) {}

  LogicalResult check();

private:
  /// Refuses a mechanism of an act, with a message that names the act.
  LogicalResult refuseIf(bool says, Mechanism mechanism, const PlannedAct &act,
                         const char *what) const;
  LogicalResult checkAnywhere(const PlannedAct &act, bool mayList) const;
  LogicalResult checkOutside(const PlannedAct &act) const;
  LogicalResult checkTurn(const PlannedAct &act, bool isShifted);
  LogicalResult checkMasked(const PlannedAct &act);
  bool makesValue(const PlannedAct &act) const;
  const KernelStep *stepOf(const PlannedAct &act) const {
    bool isStep = act.kind == PlannedAct::Run ||
                  act.kind == PlannedAct::Await ||
                  act.kind == PlannedAct::AwaitFirstRun;
    return isStep ? &kernel.steps[act.target] : nullptr;
  }

  const Lowerable &lowerable;
  const KernelModel &kernel;
  const Instance &instance;
  const RolePlan &plan;
  std::optional<int> maskedShift;
};

} // namespace

static std::string describe(const PlannedAct &act) {
  EntryAttr attr = act.entry->attr;
  StringRef name = attr.getTarget().getValue();
  return attr.getAct() == Act::Op
             ? quote(name)
             : formatv("'{0}({1})'", stringifyAct(attr.getAct()), name).str();
}

LogicalResult ActChecker::refuseIf(bool says, Mechanism mechanism,
                                   const PlannedAct &act,
                                   const char *what) const {
  return lowerable.refuseIf(says, mechanism, [&] {
    return formatv(what, describe(act), stringifyGuard(act.guard), act.shift)
        .str();
  });
}

/// Checks the sub-tile of an act; `mayList` if stores may name one.
LogicalResult ActChecker::checkAnywhere(const PlannedAct &act,
                                        bool mayList) const {
  const KernelStep *step = stepOf(act);
  bool isWhole = act.entry->attr.getSubtile() < 0;
  bool isStore = step && step->engine == Engine::Store;
  return failure(
      failed(refuseIf(act.entry->part >= 0, Mechanism::Parts, act,
                      "{0} in parts")) ||
      failed(refuseIf(!isWhole && !(isStore && mayList),
                      Mechanism::ListedSubtile, act, "{0} of one sub-tile")) ||
      failed(refuseIf(act.kind == PlannedAct::Put, Mechanism::FilledByThreads,
                      act, "{0}")));
}

LogicalResult ActChecker::checkOutside(const PlannedAct &act) const {
  const KernelStep *step = stepOf(act);
  bool isProduct = step && step->engine == Engine::Mma;
  bool isStoreAwait =
      act.kind == PlannedAct::Await && step && step->engine == Engine::Store;
  bool isMaskedStep = act.kind == PlannedAct::Run && step->isMasked();
  return failure(
      failed(refuseIf(act.guard != Guard::Always, Mechanism::NonemptyGuard, act,
                      "guard '{1}' of {0}")) ||
      failed(refuseIf(isProduct, Mechanism::OuterProduct, act,
                      "{0} outside the loop")) ||
      failed(refuseIf(isMaskedStep, Mechanism::OddMasked, act,
                      "the masked step {0} outside the loop")) ||
      failed(refuseIf(act.shift != 0 && !isStoreAwait, Mechanism::OuterShift,
                      act, "a shift of {0} outside the loop")));
}

/// Returns whether an act produces a value in registers, a slot or a verdict.
bool ActChecker::makesValue(const PlannedAct &act) const {
  if (act.kind != PlannedAct::Run) {
    return act.kind == PlannedAct::Wait || act.kind == PlannedAct::ReadRow;
  }
  const KernelStep &step = kernel.steps[act.target];
  return step.holds<tile::RejectOp>() ||
         !llvm::all_of(step.writes,
                       [&](int value) { return lowerable.isInSmem(value); });
}

/// A branch may skip a masked step, which therefore releases no slot and leaves
/// its result in registers. All of them have the same shift.
LogicalResult ActChecker::checkMasked(const PlannedAct &act) {
  if (act.kind != PlannedAct::Run || !kernel.steps[act.target].isMasked()) {
    return success();
  }
  const BoundSchedule &bound = lowerable.bound;
  const KernelStep &step = kernel.steps[act.target];
  bool readsSlot = llvm::any_of(step.reads, [&](int value) {
    const Place *home = bound.homeOf(value, act.target, instance);
    return home && home->channel && !bound.isReadAtItemBegin(*home, value);
  });
  if (!maskedShift) {
    maskedShift = act.shift;
  }
  return failure(
      failed(refuseIf(readsSlot, Mechanism::OddMasked, act,
                      "a channel that the masked step {0} reads")) ||
      failed(refuseIf(lowerable.isInSmem(step.writes.front()),
                      Mechanism::OddMasked, act,
                      "the masked step {0} with its result in 'smem'")) ||
      failed(refuseIf(*maskedShift != act.shift, Mechanism::OddMasked, act,
                      "a shift of the masked step {0} other than another's")));
}

LogicalResult ActChecker::checkTurn(const PlannedAct &act, bool isShifted) {
  bool isGuarded = act.guard != Guard::Always;
  const KernelStep *step = stepOf(act);
  bool isStoreAwait =
      act.kind == PlannedAct::Await && step->engine == Engine::Store;
  bool readsFinal =
      act.kind == PlannedAct::Run &&
      llvm::any_of(kernel.steps[act.target].reads, [&](int value) {
        return kernel.values[value].origin == Origin::Final;
      });
  return failure(
      failed(refuseIf(act.shift > (isStoreAwait ? 2 : 1), Mechanism::LongShift,
                      act, "a shift of {2} of {0}")) ||
      failed(refuseIf(act.guard == Guard::LastNonempty,
                      Mechanism::NonemptyGuard, act, "guard '{1}' of {0}")) ||
      failed(refuseIf(act.guard == Guard::Last && !isShifted,
                      Mechanism::UnshiftedLast, act,
                      "guard 'last' in a loop without shifts")) ||
      failed(refuseIf(isGuarded && makesValue(act), Mechanism::GuardedValue,
                      act, "a guard of {0}, which makes a value")) ||
      failed(refuseIf(isGuarded && readsFinal, Mechanism::GuardedFinal, act,
                      "a guard of {0}, which reads what the loop ends with")) ||
      failed(checkMasked(act)));
}

LogicalResult ActChecker::check() {
  for (const PlannedActs *acts : {&plan.before, &plan.after}) {
    for (const PlannedAct &act : *acts) {
      if (act.entry && (failed(checkAnywhere(act, instance.replica < 0)) ||
                        failed(checkOutside(act)))) {
        return failure();
      }
    }
  }
  bool isShifted = llvm::any_of(
      plan.timeStep, [](const PlannedAct &act) { return act.shift > 0; });
  for (const PlannedAct &act : plan.timeStep) {
    if (act.entry && (failed(checkAnywhere(act, instance.replica < 0)) ||
                      failed(checkTurn(act, isShifted)))) {
      return failure();
    }
  }
  return success();
}

LogicalResult sched::checkLowerableActs(const Lowerable &lowerable) {
  for (int index = 0, e = lowerable.bound.instances.size(); index < e;
       ++index) {
    if (failed(ActChecker(lowerable, index).check())) {
      return failure();
    }
  }
  return success();
}
