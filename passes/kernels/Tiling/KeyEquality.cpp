// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyEquality.h"
#include "attn/dialect/ScoreOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

KeyEquality KeyEquality::find(Region &mask) {
  if (mask.empty()) {
    return {};
  }
  Value query = mask.getArgument(2), key = mask.getArgument(3);
  Value whole = mask.front().getTerminator()->getOperand(0);
  SmallVector<Value> left{whole};
  while (!left.empty()) {
    Value factor = left.pop_back_val();
    if (auto all = factor.getDefiningOp<arith::AndIOp>()) {
      left.append({all.getRhs(), all.getLhs()});
      continue;
    }
    auto compare = factor.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        !compare.getLhs().getType().isSignlessInteger()) {
      continue;
    }
    for (auto [x, y] : {std::pair(compare.getLhs(), compare.getRhs()),
                        std::pair(compare.getRhs(), compare.getLhs())}) {
      if (!dependsOn(x, key) && !dependsOn(y, query)) {
        return {x, y, factor == whole};
      }
    }
  }
  return {};
}
