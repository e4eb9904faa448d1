// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile: turns a function with an attn.attention into the program of one
// CTA.
#include "Tiling/KernelWriter.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/dialect/RegionProgram.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_TILE
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Requires: the function has one attention of its own arguments, and returns
/// its results.
static LogicalResult checkFunction(func::FuncOp func, AttentionOp attention) {
  for (Operation &op : func.getBody().getOps()) {
    if (&op != attention && !isa<func::ReturnOp, arith::ConstantOp>(op)) {
      return op.emitOpError("expected only one 'attn.attention', "
                            "'func.return' and constants in the function, "
                            "got '")
             << op.getName() << "'";
    }
  }
  // Launches give the bounds of the user's masks, not those of inferred ones.
  bool isInferred = attention->hasAttr(kUserProblemAttr);
  for (auto [number, operand] : llvm::enumerate(attention->getOperands())) {
    bool isBound = llvm::is_contained(attention.getBounds(), operand);
    if (!isa<BlockArgument>(operand) &&
        !(isBound && isInferred && matchPattern(operand, m_Constant()))) {
      return attention.emitOpError("expected operand #")
             << number << " to be an argument of the function";
    }
  }
  for (BlockArgument argument : func.getArguments()) {
    if (argument.use_empty()) {
      return func.emitOpError("expected 'attn.attention' to use argument #")
             << argument.getArgNumber() << " of the function";
    }
  }
  Operation *end = func.getBody().front().getTerminator();
  if (!llvm::equal(end->getOperands(), attention.getResults())) {
    return end->emitOpError("expected the results of 'attn.attention', in "
                            "order, to be the results of the function");
  }
  return success();
}

/// Ensures: one loop, with the steps that the description names.
static LogicalResult verifyTiled(tile::KernelOp kernel) {
  SmallVector<tile::ForOp> loops;
  kernel.walk([&](tile::ForOp loop) { loops.push_back(loop); });
  if (loops.size() != 1) {
    return kernel.emitOpError("attn-tile: expected one 'tile.for', got ")
           << loops.size();
  }
  SmallVector<StringRef> got;
  for (auto step : loops.front().getBody().getOps<tile::StepOp>()) {
    got.push_back(step.getName());
  }
  SmallVector<StringRef> expected = {"ld_k",  "ld_v", "qk",
                                     "score", "mask", "attend"};
  if (got != expected) {
    return loops.front().emitOpError("attn-tile: expected steps ")
           << llvm::join(expected, ", ") << ", got " << llvm::join(got, ", ");
  }
  return success();
}

static LogicalResult tileFunction(func::FuncOp func, AttentionOp attention) {
  if (failed(checkFunction(func, attention))) {
    return failure();
  }
  if (!attention.getConfig()) {
    return attention.emitOpError("expected 'config', which attn-configure "
                                 "attaches");
  }
  int64_t packed = attention.getConfig()->getPackGqa();
  if (packed > 1 && attention.hasRegions()) {
    return attention.emitOpError("expected no regions with 'pack_gqa' above 1, "
                                 "because their head would differ by row, got ")
           << packed;
  }
  FailureOr<ArgumentNames> names = ArgumentNames::of(func, attention);
  if (failed(names)) {
    return failure();
  }
  tile::KernelOp kernel =
      writeKernel(attention, func.getName(), std::move(*names));
  recordConsumed(kernel, "attn-tile");
  func.erase();
  return verifyTiled(kernel);
}

namespace {
struct TilePass : public attn::impl::TileBase<TilePass> {
  using TileBase::TileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<std::pair<func::FuncOp, AttentionOp>> work;
    auto result = module.walk([&](AttentionOp attention) {
      auto func = dyn_cast<func::FuncOp>(attention->getParentOp());
      if (!func) {
        attention.emitOpError("expected to be in a 'func.func', got '")
            << attention->getParentOp()->getName() << "'";
        return WalkResult::interrupt();
      }
      work.emplace_back(func, attention);
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return signalPassFailure();
    }
    for (auto [func, attention] : work) {
      if (!SymbolTable::symbolKnownUseEmpty(func, module)) {
        func.emitOpError("expected no uses of the function, which becomes a "
                         "kernel");
        return signalPassFailure();
      }
      if (failed(tileFunction(func, attention))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
