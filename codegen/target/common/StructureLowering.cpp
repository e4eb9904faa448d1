// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over work items and over keys, the bounds of the latter, and branches.
#include "InstructionLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

LogicalResult InstructionLowering::lowerWorkLoop(ws::WorkLoopOp op) {
  item = firstItem();
  if (kernel.getConfig().getWork() == WorkKind::Grid) {
    return op.getRedo() ? lowerRedoLoop(op)
                        : lowerBlock(op.getBody().front(), *builder);
  }
  if (kernel.getConfig().getWork() == WorkKind::Dynamic) {
    return lowerHandedOut(op);
  }
  WorkExtents extents{values.lookup(op.getBlocks()),
                      values.lookup(op.getHeads()),
                      values.lookup(op.getBatches()), Value()};
  Value items = extents.count(*builder, loc);
  auto loop = scf::ForOp::create(*builder, loc, item, items, itemsInFlight());
  item = loop.getInductionVar();
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  return lowerBlock(op.getBody().front(), inner);
}

/// Runs the item, and again where `ws.run_again` says so.
LogicalResult InstructionLowering::lowerRedoLoop(ws::WorkLoopOp op) {
  Type flag = builder->getI1Type();
  Value no = arith::ConstantIntOp::create(*builder, loc, 0, 1);
  auto loop = scf::WhileOp::create(*builder, loc, TypeRange(), no);
  OpBuilder inner(builder->getContext());
  inner.createBlock(&loop.getAfter());
  Value yes = arith::ConstantIntOp::create(inner, loc, 1, 1);
  scf::YieldOp::create(inner, loc, yes);
  Block *before = inner.createBlock(&loop.getBefore(), {}, flag, loc);
  redoOfGrid = before->getArgument(0);
  return lowerBlock(op.getBody().front(), inner);
}

void InstructionLowering::lowerOwnedRows(tile::BoundsOp op) {
  int64_t tile = kernel.getConfig().getTileM();
  int64_t rows = op.getSubtile() ? tile / *op.getOf() : tile * clusterSize();
  for (auto owned : op.getBody().getOps<tile::OwnedRowsOp>()) {
    Value block = works[op.getWork()][0];
    if (!op.getSubtile() && clusterSize() > 1) {
      block =
          arith::AndIOp::create(*builder, loc, block, constant(-clusterSize()));
    }
    Value first = mul(block, tile);
    if (op.getSubtile()) {
      first = add(first, mul(values.lookup(op.getSubtile()), rows));
    }
    values.map(owned.getFirst(), first);
    values.map(owned.getRows(), constant(rows));
  }
}

LogicalResult InstructionLowering::lowerBounds(tile::BoundsOp op) {
  works[op.getBody().getArgument(0)] = works[op.getWork()];
  if (kernel.getConfig().getLastWaveParts() > 1) {
    partsOf[op.getBody().getArgument(0)] = partOf(op.getWork());
  }
  lowerOwnedRows(op);
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (!isa<tile::OwnedRowsOp>(inner) && failed(lower(&inner))) {
      return failure();
    }
  }
  Operation *yield = op.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip(op.getResults(), yield->getOperands())) {
    values.map(result, values.lookupOrDefault(value));
  }
  return success();
}

LogicalResult InstructionLowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs()) {
    inits.push_back(values.lookupOrDefault(init));
  }
  auto loop = scf::ForOp::create(*builder, loc,
                                 values.lookupOrDefault(op.getLowerBound()),
                                 values.lookupOrDefault(op.getUpperBound()),
                                 values.lookupOrDefault(op.getStep()), inits);
  Block *body = loop.getBody();
  if (!body->empty()) {
    body->back().erase();
  }
  values.map(op.getInductionVar(), loop.getInductionVar());
  values.map(op.getRegionIterArgs(), loop.getRegionIterArgs());
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  Value outerBase = smemBase;
  smemBase = nvx::SmemBaseOp::create(inner, loc, inner.getI32Type(), smemName);
  if (failed(lowerBlock(*op.getBody(), inner))) {
    return failure();
  }
  smemBase = outerBase;
  SmallVector<Value> yielded;
  for (Value value : op.getBody()->getTerminator()->getOperands()) {
    yielded.push_back(values.lookupOrDefault(value));
  }
  scf::YieldOp::create(inner, loc, yielded);
  values.map(op.getResults(), loop.getResults());
  return success();
}

LogicalResult InstructionLowering::lowerIf(scf::IfOp op) {
  bool hasElse = !op.getElseRegion().empty();
  auto branch =
      scf::IfOp::create(*builder, loc, op.getResultTypes(),
                        values.lookupOrDefault(op.getCondition()),
                        /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    if (from.empty()) {
      continue;
    }
    if (!to.front().empty()) {
      to.front().back().erase();
    }
    OpBuilder inner = OpBuilder::atBlockEnd(&to.front());
    if (failed(lowerBlock(from.front(), inner))) {
      return failure();
    }
    SmallVector<Value> yielded;
    for (Value value : from.front().getTerminator()->getOperands()) {
      yielded.push_back(values.lookupOrDefault(value));
    }
    scf::YieldOp::create(inner, loc, yielded);
  }
  values.map(op.getResults(), branch.getResults());
  return success();
}
