// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which MMAs a role awaits before which act, on machines whose roles await
// their own MMAs: before an act touches the result, or computes an operand of
// the MMA anew. Stores and copies are awaited where the schedule says so.
#include "RolePlanner.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

/// Returns whether `value`, of the iteration that began `turns` turns ago, is
/// the result of `product` in this turn. A step that only masked ranges run
/// passes its first operand on in the others.
bool RolePlanner::comesFrom(int value, int turns,
                            const PlannedAct &product) const {
  while (value >= 0 && kernel.values[value].origin != Origin::Step) {
    value = kernel.values[value].yielded;
    ++turns;
    if (turns > product.shift) {
      return false; // from before the product's iteration
    }
  }
  if (value < 0 || kernel.values[value].producer < 0) {
    return false;
  }
  int producer = kernel.values[value].producer;
  if (producer == product.target) {
    return turns == product.shift;
  }
  int passed = kernel.steps[producer].passedOn;
  return passed >= 0 && comesFrom(passed, turns, product);
}

bool RolePlanner::needsResult(const PlannedAct &act, const PlannedAct &product,
                              bool inLoop) const {
  ArrayRef<int> values;
  if (const KernelStep *step = stepOf(act)) {
    values = step->reads;
  } else if (act.kind == PlannedAct::Put) {
    const Place &place = *bound.channelOf(act.target);
    values = place.cycles[place.cycleOf(act.target)];
  }
  int turns = act.shift;
  if (inLoop && act.guard != Guard::Always) {
    // The last turn begins when the last iteration is as old as the largest
    // shift; final values come from that iteration.
    turns = -1;
    for (const Entry &entry : instance.kv) {
      turns = std::max(turns, entry.shift - 1);
    }
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

/// Returns whether an act computes anew what an MMA in flight reads.
bool RolePlanner::remakesOperand(const PlannedAct &act,
                                 const PlannedAct &product) const {
  const KernelStep *step = stepOf(act);
  if (!step || step->engine != Engine::Threads) {
    return false;
  }
  const KernelStep &mma = kernel.steps[product.target];
  return llvm::any_of(ArrayRef{mma.a, mma.b}, [&](int operand) {
    return operand >= 0 && kernel.values[operand].producer == act.target;
  });
}

void RolePlanner::awaitProducts(PlannedActs &acts, bool inLoop) const {
  if (!bound.awaitsProducts()) {
    return;
  }
  for (auto [x, act] : llvm::enumerate(acts)) {
    for (auto [p, product] : llvm::enumerate(ArrayRef(acts).take_front(x))) {
      if (isProduct(product) &&
          (needsResult(act, product, inLoop) || remakesOperand(act, product))) {
        act.awaited.push_back(p);
      }
    }
  }
}
