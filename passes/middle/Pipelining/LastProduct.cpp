// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-overlap-last-product: lets a role compute while the last product of its
// streaming loop is in flight.
#include "attn/dialect/Ws.h"
#include "attn/passes/middle/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_OVERLAPLASTPRODUCT
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Moves ops that follow a branch before the last await in the branch.
class TailMover {
public:
  /// `loop` is the branch with the blocks of a streaming loop, or its
  /// replacement if there are none.
  explicit TailMover(scf::IfOp loop) : loop(loop) {}
  void run();

private:
  bool findAwait();
  void collect();
  bool canMove(Operation &op);
  void cloneInto(Block *block, Operation *before);
  SmallVector<OpResult> kept();
  void replaceLoop(ArrayRef<OpResult> used);

  scf::IfOp loop;
  ws::AwaitOp last;
  /// The moved ops in order, and the ops that depend on the loop's results.
  llvm::SetVector<Operation *> moved;
  /// Results of `moved` that are used after the loop.
  SmallVector<Value> results;
};

} // namespace

bool TailMover::findAwait() {
  for (auto await : loop.thenBlock()->getOps<ws::AwaitOp>()) {
    last = await;
  }
  return last != nullptr;
}

/// Whether the op depends on nothing from the last await on. Ops that only
/// repeat a value are not moved: they cost nothing, and would turn a result of
/// the branch into a whole tile.
bool TailMover::canMove(Operation &op) {
  if (!isMemoryEffectFree(&op) || op.getNumRegions() != 0 ||
      isa<tile::BroadcastOp, tensor::SplatOp>(op)) {
    return false;
  }
  return llvm::all_of(op.getOperands(), [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (source != loop) {
      return !source || moved.contains(source) ||
             source->getBlock() != loop->getBlock() ||
             source->isBeforeInBlock(loop);
    }
    unsigned number = cast<OpResult>(value).getResultNumber();
    Operation *made = loop.thenYield().getOperand(number).getDefiningOp();
    return !made || made->getBlock() != last->getBlock() ||
           made->isBeforeInBlock(last);
  });
}

/// Constants and the like move only together with their users.
void TailMover::collect() {
  llvm::SetVector<Operation *> reached;
  for (Operation &op : llvm::make_range(std::next(loop->getIterator()),
                                        loop->getBlock()->end())) {
    if (!canMove(op)) {
      continue;
    }
    moved.insert(&op);
    bool reads = llvm::any_of(op.getOperands(), [&](Value value) {
      Operation *source = value.getDefiningOp();
      return source == loop || reached.contains(source);
    });
    if (reads) {
      reached.insert(&op);
    }
  }
  SmallVector<Operation *> needed(reached.begin(), reached.end());
  llvm::SetVector<Operation *> wanted = reached;
  while (!needed.empty()) {
    for (Value value : needed.pop_back_val()->getOperands()) {
      Operation *source = value.getDefiningOp();
      if (moved.contains(source) && wanted.insert(source)) {
        needed.push_back(source);
      }
    }
  }
  moved.remove_if([&](Operation *op) { return !wanted.contains(op); });
  for (Operation *op : moved) {
    for (Value value : op->getResults()) {
      bool isUsed = llvm::any_of(value.getUsers(), [&](Operation *user) {
        return !moved.contains(user);
      });
      if (isUsed) {
        results.push_back(value);
      }
    }
  }
}

/// Clones the moved ops before `before`; the block yields their results.
void TailMover::cloneInto(Block *block, Operation *before) {
  IRMapping mapping;
  Operation *yield = block->getTerminator();
  mapping.map(loop.getResults(), yield->getOperands());
  OpBuilder builder(before);
  for (Operation *op : moved) {
    builder.clone(*op, mapping);
  }
  SmallVector<Value> yielded;
  for (OpResult result : kept()) {
    yielded.push_back(yield->getOperand(result.getResultNumber()));
  }
  for (Value value : results) {
    yielded.push_back(mapping.lookup(value));
  }
  yield->setOperands(yielded);
}

/// Returns the branch's results that ops use which do not move into it.
SmallVector<OpResult> TailMover::kept() {
  SmallVector<OpResult> used;
  llvm::copy_if(loop->getResults(), std::back_inserter(used),
                [&](OpResult result) {
                  return result.use_empty() ||
                         llvm::any_of(result.getUsers(), [&](Operation *user) {
                           return !moved.contains(user);
                         });
                });
  return used;
}

void TailMover::replaceLoop(ArrayRef<OpResult> used) {
  OpBuilder builder(loop);
  SmallVector<Type> types;
  for (OpResult result : used) {
    types.push_back(result.getType());
  }
  llvm::append_range(types, ValueRange(results).getTypes());
  auto replacement =
      scf::IfOp::create(builder, loop.getLoc(), types, loop.getCondition());
  replacement->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  replacement.getThenRegion().takeBody(loop.getThenRegion());
  replacement.getElseRegion().takeBody(loop.getElseRegion());
  ValueRange all = replacement.getResults();
  for (auto [value, result] : llvm::zip(results, all.drop_front(used.size()))) {
    value.replaceAllUsesWith(result);
  }
  for (Operation *op : llvm::reverse(moved)) {
    op->erase();
  }
  for (auto [old, result] : llvm::zip(used, all.take_front(used.size()))) {
    Value(old).replaceAllUsesWith(result);
  }
  loop.erase();
}

void TailMover::run() {
  if (!findAwait()) {
    return;
  }
  collect();
  if (moved.empty()) {
    return;
  }
  SmallVector<OpResult> used = kept();
  cloneInto(loop.thenBlock(), last);
  cloneInto(loop.elseBlock(), loop.elseBlock()->getTerminator());
  replaceLoop(used);
}

namespace {

class OverlapLastProductPass
    : public attn::impl::OverlapLastProductBase<OverlapLastProductPass> {
public:
  using OverlapLastProductBase::OverlapLastProductBase;

  void runOnOperation() override {
    SmallVector<scf::IfOp> branches;
    WalkResult walked = getOperation().walk([&](Operation *op) {
      if (isa<ws::ForOp>(op)) {
        op->emitOpError("attn-overlap-last-product: expected the loop to be "
                        "expanded");
        return WalkResult::interrupt();
      }
      auto branch = dyn_cast<scf::IfOp>(op);
      if (branch && branch.elseBlock() && op->getParentOfType<ws::RoleOp>()) {
        branches.push_back(branch);
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted()) {
      return signalPassFailure();
    }
    for (scf::IfOp branch : branches) {
      TailMover(branch).run();
    }
  }
};

} // namespace
