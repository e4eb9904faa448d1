// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RangeSize.h"
#include "attn/dialect/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

namespace {

/// What a result of a tile.bounds yields; null for other values.
Value yieldedTo(Value bound) {
  auto bounds = bound.getDefiningOp<tile::BoundsOp>();
  if (!bounds) {
    return {};
  }
  unsigned index = cast<OpResult>(bound).getResultNumber();
  return bounds.getBody().front().getTerminator()->getOperand(index);
}

} // namespace

bool attn::holdsOneBlockAtMost(Value high, Value low) {
  Value highYield = yieldedTo(high), lowYield = yieldedTo(low);
  if (!highYield || !lowYield || high.getDefiningOp() != low.getDefiningOp()) {
    return false;
  }
  auto ceil = highYield.getDefiningOp<arith::CeilDivSIOp>();
  auto floor = lowYield.getDefiningOp<arith::DivSIOp>();
  return ceil && floor && ceil.getLhs() == floor.getLhs() &&
         ceil.getRhs() == floor.getRhs();
}
