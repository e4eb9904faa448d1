// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the ops on parts of work items; labels are those of
// TileCutOps.td.
#include "TileVerifiers.h"
#include "attn/dialect/Tile.h"

using namespace mlir;
using namespace attn::tile;

/// C1 of tile.join.
static LogicalResult verifyTypes(JoinOp op) {
  SmallVector<Type> twice(op.getValues().getTypes());
  llvm::append_range(twice, op.getValues().getTypes());
  Block &block = op.getBody().front();
  if (block.getArgumentTypes() != TypeRange(twice)) {
    return op.emitOpError("expected block arguments (")
           << TypeRange(twice) << "), got (" << block.getArgumentTypes() << ")";
  }
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().getTypes() != op.getValues().getTypes()) {
    return op.emitOpError("expected the body to yield (")
           << op.getValues().getTypes() << ")";
  }
  return success();
}

LogicalResult JoinOp::verifyRegions() {
  if (failed(verifyTypes(*this))) {
    return failure();
  }
  return verifyOnceAnItem(*this); // C3
}
