// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelFunction.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/dialect/RegionProgram.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

static LogicalResult checkOperands(func::FuncOp func, Operation *op) {
  // The bounds of the user's masks are arguments. Those of inferred masks may
  // be constants.
  ValueRange inferred;
  if (op->hasAttr(kUserProblemAttr)) {
    llvm::TypeSwitch<Operation *>(op).Case<AttentionOp, AttentionBwdOp>(
        [&](auto attention) { inferred = attention.getBounds(); });
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    bool isBound = llvm::is_contained(inferred, operand);
    if (!isa<BlockArgument>(operand) &&
        !(isBound && matchPattern(operand, m_Constant()))) {
      return op->emitOpError("expected operand #")
             << number << " to be an argument of the function";
    }
  }
  for (BlockArgument argument : func.getArguments()) {
    if (argument.use_empty()) {
      return func.emitOpError("expected '")
             << op->getName() << "' to use argument #"
             << argument.getArgNumber() << " of the function";
    }
  }
  return success();
}

LogicalResult attn::checkKernelFunction(func::FuncOp func, Operation *op) {
  for (Operation &other : func.getBody().getOps()) {
    if (&other != op && !isa<func::ReturnOp, arith::ConstantOp>(other)) {
      return other.emitOpError("expected only one '")
             << op->getName()
             << "', 'func.return' and constants in the function, got '"
             << other.getName() << "'";
    }
  }
  if (failed(checkOperands(func, op))) {
    return failure();
  }
  Operation *end = func.getBody().front().getTerminator();
  if (!llvm::equal(end->getOperands(), op->getResults())) {
    return end->emitOpError("expected the results of '")
           << op->getName() << "', in order, to be the results of the function";
  }
  return success();
}

/// Only kernels of dK that compute dX from P itself may keep P rounded.
static LogicalResult checkKeptP(Operation *op, ConfigAttr config) {
  auto gradients = dyn_cast<AttentionBwdOp>(op);
  bool mayRound = gradients && gradients.mayRoundP();
  if (mayRound || config.getKeptP() == KeptP::F32) {
    return success();
  }
  return op->emitOpError("expected 'kept_p' of 'config' to be 'f32' without a "
                         "gradient of K, or with a score region, got '")
         << stringifyEnum(config.getKeptP()) << "'";
}

/// Only kernels that add to sums have shares of dQ.
static LogicalResult checkShares(Operation *op, ConfigAttr config) {
  auto gradients = dyn_cast<AttentionBwdOp>(op);
  if (gradients && gradients.makesSums()) {
    return success();
  }
  if (config.getFirstShare() != FirstShare::Added) {
    return op->emitOpError("expected 'first_share' of 'config' to be 'added' "
                           "without sums of dQ, got '")
           << stringifyEnum(config.getFirstShare()) << "'";
  }
  if (config.getShareRows() != ShareRows::Queries) {
    return op->emitOpError("expected 'share_rows' of 'config' to be 'queries' "
                           "without sums of dQ, got '")
           << stringifyEnum(config.getShareRows()) << "'";
  }
  return success();
}

LogicalResult attn::replaceFunctions(
    ModuleOp module, function_ref<bool(Operation *)> isOfKernel,
    function_ref<FailureOr<tile::KernelOp>(func::FuncOp, Operation *)> write) {
  SmallVector<std::pair<func::FuncOp, Operation *>> work;
  WalkResult result = module.walk([&](Operation *op) {
    if (!isOfKernel(op)) {
      return WalkResult::advance();
    }
    auto func = dyn_cast<func::FuncOp>(op->getParentOp());
    if (!func) {
      op->emitOpError("expected to be in a 'func.func', got '")
          << op->getParentOp()->getName() << "'";
      return WalkResult::interrupt();
    }
    work.emplace_back(func, op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  for (auto [func, op] : work) {
    if (!SymbolTable::symbolKnownUseEmpty(func, module)) {
      return func.emitOpError("expected no uses of the function, which becomes "
                              "a kernel");
    }
    if (failed(checkKernelFunction(func, op))) {
      return failure();
    }
    auto config = op->getAttrOfType<ConfigAttr>("config");
    if (!config) {
      return op->emitOpError("expected 'config', which attn-configure "
                             "attaches");
    }
    if (failed(checkKeptP(op, config)) || failed(checkShares(op, config))) {
      return failure();
    }
    FailureOr<tile::KernelOp> kernel = write(func, op);
    if (failed(kernel)) {
      return failure();
    }
    recordConsumed(*kernel, "attn-tile");
    func.erase();
  }
  return success();
}
