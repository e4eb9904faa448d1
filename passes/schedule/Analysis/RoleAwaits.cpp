// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which MMAs a role awaits before which act, on machines whose roles await
// their own MMAs: before an act reads or changes the result, or recomputes an
// operand of the MMA. Stores and copies are awaited where the schedule has an
// await.
#include "RoleChannels.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

namespace {

/// The MMAs of one list, and the acts that need them to be complete.
class Products {
public:
  Products(const BoundSchedule &bound, const PlannedActs &acts, bool inLoop);

  bool mustEnd(const PlannedAct &product, const PlannedAct &act) const {
    return needsResult(act, product) || remakesOperand(act, product);
  }
  bool isProduct(const PlannedAct &act) const {
    return act.kind == PlannedAct::Run &&
           kernel.steps[act.target].engine == Engine::Mma;
  }

private:
  bool needsResult(const PlannedAct &act, const PlannedAct &product) const;
  bool comesFrom(int value, int turns, const PlannedAct &product) const;
  bool remakesOperand(const PlannedAct &act, const PlannedAct &product) const;

  const BoundSchedule &bound;
  const KernelModel &kernel;
  bool inLoop;
  int largestShift = 0;
};

} // namespace

Products::Products(const BoundSchedule &bound, const PlannedActs &acts,
                   bool inLoop)
    : bound(bound), kernel(*bound.kernel), inLoop(inLoop) {
  for (const PlannedAct &act : acts) {
    largestShift = std::max(largestShift, act.shift);
  }
}

/// Returns whether `value` is the result of `product` in this time step, where
/// `value` belongs to the iteration that began `ago` time steps before. In
/// ranges without masks, a step of masked ranges passes on its first operand.
bool Products::comesFrom(int value, int ago, const PlannedAct &product) const {
  while (value >= 0 && kernel.values[value].origin != Origin::Step) {
    value = kernel.values[value].yielded;
    ++ago;
    if (ago > product.shift) {
      return false; // from an iteration before that of the product
    }
  }
  if (value < 0 || kernel.values[value].producer < 0) {
    return false;
  }
  int producer = kernel.values[value].producer;
  if (producer == product.target) {
    return ago == product.shift;
  }
  int passed = kernel.steps[producer].passedOn;
  return passed >= 0 && comesFrom(passed, ago, product);
}

bool Products::needsResult(const PlannedAct &act,
                           const PlannedAct &product) const {
  ArrayRef<int> values;
  if (act.kind == PlannedAct::Run) {
    values = kernel.steps[act.target].reads;
  } else if (act.kind == PlannedAct::Put) {
    const Place &place = *bound.channelOf(act.target);
    values = place.cycles[place.cycleOf(act.target)];
  }
  int turns = act.shift;
  if (inLoop && act.guard != Guard::Always) {
    // The last time step begins when the last iteration is as old as the
    // largest shift; final values come from that iteration.
    turns = largestShift - 1;
  }
  return llvm::any_of(values, [&](int value) {
    SmallVector<Subtile, 4> tiles;
    if (act.kind == PlannedAct::Run) {
      tiles = bound.subtilesRead(act.target, value, act.subtile);
    } else {
      tiles = {bound.axisOf(value).empty() ? whole : act.subtile};
    }
    return llvm::is_contained(tiles, product.subtile) &&
           comesFrom(value, turns, product);
  });
}

/// Returns whether an act recomputes an operand of an MMA in flight.
bool Products::remakesOperand(const PlannedAct &act,
                              const PlannedAct &product) const {
  if (act.kind != PlannedAct::Run ||
      kernel.steps[act.target].engine != Engine::Threads) {
    return false;
  }
  const KernelStep &mma = kernel.steps[product.target];
  return llvm::any_of(ArrayRef{mma.a, mma.b}, [&](int operand) {
    return operand >= 0 && kernel.values[operand].producer == act.target;
  });
}

void sched::awaitProducts(const BoundSchedule &bound, PlannedActs &acts,
                          bool inLoop) {
  if (!bound.awaitsProducts()) {
    return;
  }
  Products products(bound, acts, inLoop);
  SmallVector<int, 4> issued;
  for (int index = 0; index < int(acts.size()); ++index) {
    PlannedAct &act = acts[index];
    llvm::copy_if(issued, std::back_inserter(act.awaited), [&](int product) {
      return products.mustEnd(acts[product], act);
    });
    if (products.isProduct(act)) {
      issued.push_back(index);
    }
  }
}
