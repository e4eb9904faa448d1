// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RegionWeight.h"
#include "attn/dialect/ScoreOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// Returns the assembler's time for `op`, relative to its time for an addition.
static int64_t weighOp(Operation *op) {
  if (isa<YieldOp>(op)) {
    return 0;
  }
  const ScoreOp &entry = *lookUpScoreOp(op); // the verifier refuses all others
  bool isByConstant = op->getNumOperands() == 2 &&
                      matchPattern(op->getOperand(1), m_Constant());
  return isByConstant ? entry.weightByConstant : entry.weight;
}

int64_t attn::weighRegions(AttentionOp op) {
  int64_t weight = 0;
  for (Region *region :
       {&op.getScoreRegion(), &op.getMaskRegion(), &op.getRowKeys()}) {
    region->walk([&](Operation *inner) { weight += weighOp(inner); });
  }
  return weight;
}
