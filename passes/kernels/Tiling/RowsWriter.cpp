// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowsWriter.h"

using namespace mlir;
using namespace attn;

/// There are no captures, whose names could be wrong.
static ArgumentNames namesFor(Operation *op) {
  auto func = cast<func::FuncOp>(op->getParentOp());
  return *ArgumentNames::of(func, ValueRange());
}

RowsWriter::RowsWriter(Operation *op, ConfigAttr config, unsigned positionDim,
                       unsigned headsDim)
    : b(op->getLoc()), config(config),
      arguments(op->getContext(), namesFor(op), positionDim, headsDim) {
  b.setInsertionPoint(op->getParentOp());
}

tile::KernelOp RowsWriter::createKernel(StringRef name, ProblemAttr problem,
                                        const CheckList &checks) {
  return arguments.createKernel(
      b, b.loc, name, problem, config,
      [&](tile::KernelOp kernel) { checks.addTo(kernel); });
}

Value RowsWriter::writeNext(Value batches, Value heads, Value rows) {
  tileSize = b.i32(config.getTileM());
  return b.beginWork(b.ceilDiv(rows, tileSize), heads, batches);
}

RowsWriter::Place RowsWriter::placeOf(Value work) {
  auto at = tile::WorkCoordsOp::create(b, b.loc, work);
  return {at.getBatch(), at.getHead(), b.mul(at.getBlock(), tileSize)};
}
