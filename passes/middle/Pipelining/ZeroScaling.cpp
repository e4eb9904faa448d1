// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-drop-zero-scaling: +0 times a finite factor that is not negative is +0.
#include "attn/dialect/Ws.h"
#include "attn/passes/middle/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_DROPZEROSCALING
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

bool isConstant(Value value, bool (*is)(const APFloat &)) {
  return matchPattern(value,
                      ::mlir::detail::constant_float_predicate_matcher{is});
}

/// Whether a value is no NaN and at most 0, for all `a` and `b`: a difference a
/// - max(b, a) with a finite constant `a`, min(a, b) with such a `b`, or a
/// constant.
bool isAtMostZero(Value value) {
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    return isAtMostZero(select.getTrueValue()) &&
           isAtMostZero(select.getFalseValue());
  }
  if (auto smaller = value.getDefiningOp<arith::MinNumFOp>()) {
    return isAtMostZero(smaller.getRhs()); // the number where one is NaN
  }
  if (auto difference = value.getDefiningOp<arith::SubFOp>()) {
    Value from = difference.getLhs();
    auto larger = difference.getRhs().getDefiningOp<arith::MaxNumFOp>();
    return larger && llvm::is_contained(larger->getOperands(), from) &&
           isConstant(from, [](const APFloat &v) { return v.isFinite(); });
  }
  return isConstant(value, [](const APFloat &v) {
    return v.isZero() || (v.isNegative() && !v.isNaN());
  });
}

/// Whether a factor is finite and not negative, so that +0 times it is +0.
bool keepsZeros(Value factor) {
  if (auto branch = factor.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(factor).getResultNumber();
    return keepsZeros(branch.thenYield().getOperand(number)) &&
           keepsZeros(branch.elseYield().getOperand(number));
  }
  if (auto rows = factor.getDefiningOp<tile::BroadcastOp>()) {
    return keepsZeros(rows.getSource());
  }
  if (auto power = factor.getDefiningOp<math::Exp2Op>()) {
    return isAtMostZero(power.getOperand());
  }
  return isConstant(
      factor, [](const APFloat &v) { return v.isFinite() && !v.isNegative(); });
}

/// If a branch either scaled zeros or passed them on, its result is zeros.
void forwardZeros(scf::IfOp branch) {
  for (OpResult result : branch.getResults()) {
    Value value = branch.thenYield().getOperand(result.getResultNumber());
    if (value == branch.elseYield().getOperand(result.getResultNumber()) &&
        matchPattern(value, m_PosZeroFloat())) {
      result.replaceAllUsesWith(value);
    }
  }
}

/// Replaces `product` by +0 if its value is known to be +0.
void dropScaling(arith::MulFOp product) {
  Value zeros = product.getLhs();
  if (!matchPattern(zeros, m_PosZeroFloat()) || !keepsZeros(product.getRhs())) {
    return;
  }
  auto branch = dyn_cast<scf::IfOp>(product->getParentOp());
  product.replaceAllUsesWith(zeros);
  product.erase();
  if (branch && branch.elseBlock()) {
    forwardZeros(branch);
  }
}

class DropZeroScalingPass
    : public attn::impl::DropZeroScalingBase<DropZeroScalingPass> {
public:
  using DropZeroScalingBase::DropZeroScalingBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      kernel.walk(dropScaling);
    }
  }
};

} // namespace
