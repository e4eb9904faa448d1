// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RegionWeight.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// Returns the assembler's time for regions of one kind of op, relative to its
/// time for additions.
static int64_t weighOp(Operation *op) {
  if (isa<arith::ConstantOp, arith::IndexCastOp, YieldOp>(op)) {
    return 0;
  }
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op)) {
    return matchPattern(op->getOperand(1), m_Constant()) ? 5 : 200;
  }
  if (isa<tensor::ExtractOp>(op)) {
    return 60;
  }
  if (isa<arith::DivFOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
          math::SqrtOp, math::RsqrtOp>(op)) {
    return 5;
  }
  bool isOneInstruction = !isa<math::MathDialect>(op->getDialect()) ||
                          isa<math::AbsFOp, math::FmaOp>(op);
  return isOneInstruction ? 1 : isa<math::TanhOp>(op) ? 25 : 100;
}

int64_t attn::weighRegions(AttentionOp op) {
  int64_t weight = 0;
  for (Region *region : {&op.getScoreRegion(), &op.getMaskRegion()}) {
    region->walk([&](Operation *inner) { weight += weighOp(inner); });
  }
  return weight;
}
