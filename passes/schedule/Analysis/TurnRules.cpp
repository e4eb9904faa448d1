// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V30: additions to memory in turns. One role waits until the item of the
// block before has added, lets the roles of its CTA add, and passes the turn on
// when they have. Items wait for those with smaller numbers alone, which begin
// earlier and wait for none that comes later: no launch waits forever.
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Returns the only step with one of these ops, or -1.
template <typename Op> static int findStep(const KernelModel &kernel) {
  auto step = llvm::find_if(
      kernel.steps, [](const KernelStep &each) { return each.holds<Op>(); });
  return step == kernel.steps.end() ? -1 : int(step - kernel.steps.begin());
}

/// Returns the entry of a role's loop that does this in each iteration, or
/// null.
static const Entry *entryOf(const Instance &instance, Act act, int target) {
  auto entry = llvm::find_if(instance.kv, [&](const Entry &each) {
    return each.act == act && each.target == target &&
           each.guard == Guard::Always;
  });
  return entry == instance.kv.end() ? nullptr : &*entry;
}

/// Whether a role does both in each iteration, `a` first.
static bool comesBefore(const Entry *a, const Entry *b) {
  return a && b && runsBefore(*a, *b);
}

namespace {

class TurnRules {
public:
  TurnRules(const BoundSchedule &bound, EmitError emitError)
      : bound(bound), kernel(*bound.kernel), emitError(emitError),
        wait(findStep<tile::TurnWaitOp>(kernel)),
        add(findStep<tile::ReduceAddOp>(kernel)),
        pass(findStep<tile::TurnPassOp>(kernel)) {}

  LogicalResult check();

private:
  LogicalResult checkItems();
  LogicalResult checkAddition();
  LogicalResult checkOrder(const Instance &keeper, const Instance &adder);
  StringRef name(int step) const { return kernel.steps[step].name; }

  const BoundSchedule &bound;
  const KernelModel &kernel;
  EmitError emitError;
  int wait, add, pass; // steps
};

} // namespace

/// An item may wait for those with smaller numbers alone, and all of these must
/// have been claimed by CTAs that run. CTAs need not begin in the order of
/// their numbers, so no item may follow from the number of its CTA, as the
/// first item of a static one does.
LogicalResult TurnRules::checkItems() {
  bool isLinear = kernel.config.getOrder() == WorkOrder::Linear;
  bool isClaimed = kernel.claimsItem || kernel.claimsFirstItem;
  if (isLinear && isClaimed && bound.cluster == 1) {
    return success();
  }
  return reject(emitError, "V30",
                formatv("expected work 'grid' or 'dynamic', order 'linear' "
                        "and no cluster for additions in turns, whose items "
                        "wait for those of smaller blocks in CTAs that run, "
                        "got work '{0}', order '{1}' and a cluster of "
                        "{2}",
                        stringifyWorkKind(kernel.config.getWork()),
                        stringifyWorkOrder(kernel.config.getOrder()),
                        bound.cluster));
}

LogicalResult TurnRules::checkAddition() {
  if (llvm::none_of(kernel.steps[add].reads,
                    [&](int value) { return bound.holdOf(value); })) {
    return success();
  }
  return reject(emitError, "V30",
                formatv("expected '{0}', which adds in turns, to add from "
                        "registers, got a hold in smem",
                        name(add)));
}

/// The keeper's signal after its wait reaches the adder before it adds, and the
/// adder's after that the keeper before it passes the turn on.
LogicalResult TurnRules::checkOrder(const Instance &keeper,
                                    const Instance &adder) {
  auto leads = [&](const Instance &from, int first, const Instance &to,
                   int then) {
    return llvm::any_of(llvm::seq(bound.edges.size()), [&](size_t edge) {
      return bound.edges[edge].credits == 0 &&
             comesBefore(entryOf(from, Act::Op, first),
                         entryOf(from, Act::Sig, int(edge))) &&
             comesBefore(entryOf(to, Act::Wait, int(edge)),
                         entryOf(to, Act::Op, then));
    });
  };
  if (leads(keeper, wait, adder, add) && leads(adder, add, keeper, pass)) {
    return success();
  }
  return reject(
      emitError, "V30",
      formatv("expected edges from '{0}' to '{1}' and from there to '{2}', in "
              "each iteration, between the roles '{3}' and '{4}'",
              name(wait), name(add), name(pass), keeper.name, adder.name));
}

LogicalResult TurnRules::check() {
  if (wait < 0) {
    return success();
  }
  if (failed(checkItems()) || failed(checkAddition())) {
    return failure();
  }
  auto keeper = llvm::find_if(bound.instances, [&](const Instance &each) {
    return each.runs[wait] && each.runs[pass];
  });
  if (keeper == bound.instances.end()) {
    return reject(emitError, "V30",
                  formatv("expected one role to run '{0}' and '{1}'",
                          name(wait), name(pass)));
  }
  for (const Instance &adder : bound.instances) {
    if (!adder.runs[add]) {
      continue;
    }
    if (bound.skipsBlocks(adder)) {
      return reject(emitError, "V30",
                    formatv("expected role '{0}', which adds in turns, not to "
                            "skip blocks",
                            adder.name));
    }
    if (failed(checkOrder(*keeper, adder))) {
      return failure();
    }
  }
  return success();
}

LogicalResult sched::checkTurns(const BoundSchedule &bound,
                                EmitError emitError) {
  return TurnRules(bound, emitError).check();
}
