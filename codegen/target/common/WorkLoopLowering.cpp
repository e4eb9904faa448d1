// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over work items, and the ops in them that ask what an item is.
#include "WorkItemLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

LogicalResult WorkItemLowering::run() {
  Block &body = role.getBody().front();
  if (failed(lowerOps(body.begin(), body.end()))) {
    return failure();
  }
  for (Operation *op : llvm::reverse(lowered)) {
    op->erase();
  }
  return success();
}

/// Lowers ops in their order; those in them, where they are not lowered.
LogicalResult WorkItemLowering::lowerOps(Block::iterator begin,
                                         Block::iterator end) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::make_range(begin, end))) {
    size_t before = lowered.size();
    builder->setInsertionPoint(&op);
    loc = op.getLoc();
    if (failed(lower(&op))) {
      return failure();
    }
    if (lowered.size() > before) {
      continue;
    }
    for (Region &region : op.getRegions()) {
      for (Block &block : region) {
        if (failed(lowerOps(block.begin(), block.end()))) {
          return failure();
        }
      }
    }
  }
  return success();
}

LogicalResult WorkItemLowering::lower(Operation *op) {
  auto done = [&] {
    lowered.push_back(op);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ws::WorkLoopOp op) {
        return failed(lowerWorkLoop(op)) ? failure() : done();
      })
      .Case([&](tile::BoundsOp op) {
        return failed(lowerBounds(op)) ? failure() : done();
      })
      .Case([&](tile::NextWorkOp op) { return lowerNextWork(op), done(); })
      .Case([&](ws::TakeItemOp op) { return lowerTakeItem(op), done(); })
      .Case([&](ws::ChooseItemOp op) { return lowerChooseItem(op), done(); })
      .Case([&](ws::ShareWorkOp op) {
        return failed(lowerShareWork(op)) ? failure() : done();
      })
      .Case([&](ws::PutWorkOp op) { return lowerPutWork(op), done(); })
      .Case([&](ws::GetWorkOp op) { return lowerGetWork(op), done(); })
      .Case([&](ws::FetchWorkOp op) { return lowerFetchWork(op), done(); })
      .Case([&](tile::PartOfOp op) { return lowerPartOf(op), done(); })
      .Case([&](tile::WithCareOp op) { return lowerWithCare(op), done(); })
      .Case([&](ws::SlotAtOp) { return done(); })
      .Case([&](ws::VerdictSlotOp op) {
        op.getSlot().replaceAllUsesWith(verdictSlots.lookup(op.getWork()));
        return done();
      })
      .Case([&](ws::SecondRunOp op) {
        scf::ConditionOp::create(*builder, loc, op.getRejected(), ValueRange());
        return done();
      })
      .Case([&](tile::CoordsOfOp op) {
        op->replaceAllUsesWith(
            ValueRange(ArrayRef<Value>(works[op.getWork()])));
        return done();
      })
      .Default([](Operation *op) -> LogicalResult {
        if (isa_and_nonnull<ws::WsDialect, tile::TileDialect,
                            tensor::TensorDialect>(op->getDialect())) {
          return op->emitOpError("attn-lower-to-nvvm: no lowering for this op");
        }
        return success();
      });
}

/// This CTA's number in its cluster, whose items have a row block for each.
Value WorkItemLowering::rankInCluster() {
  return nvx::ClusterRankOp::create(*builder, loc, builder->getI32Type());
}

/// The number of this CTA's, or this cluster's, first work item.
Value WorkItemLowering::firstItem() {
  Type i32 = builder->getI32Type();
  return clusterSize() > 1
             ? NVVM::ClusterIdXOp::create(*builder, loc, i32).getResult()
             : NVVM::BlockIdXOp::create(*builder, loc, i32).getResult();
}

/// How many work items the grid works on at a time.
Value WorkItemLowering::itemsInFlight() {
  Type i32 = builder->getI32Type();
  return clusterSize() > 1
             ? NVVM::ClusterDimXOp::create(*builder, loc, i32).getResult()
             : NVVM::GridDimXOp::create(*builder, loc, i32).getResult();
}

LogicalResult WorkItemLowering::lowerWorkLoop(ws::WorkLoopOp op) {
  workLoop = op;
  item = firstItem();
  auto &body = op.getBody().front().getOperations();
  if (kernel.getConfig().getWork() == WorkKind::Grid) {
    if (hasVerdict()) {
      return lowerRedoLoop(op);
    }
    Block::iterator first = body.begin();
    op->getBlock()->getOperations().splice(op->getIterator(), body);
    return lowerOps(first, op->getIterator());
  }
  if (kernel.getConfig().getWork() == WorkKind::Dynamic) {
    return lowerHandedOut(op);
  }
  WorkExtents extents{op.getBlocks(), op.getHeads(), op.getBatches(), Value()};
  Value items = extents.count(*builder, loc);
  auto loop = scf::ForOp::create(*builder, loc, item, items, itemsInFlight());
  item = loop.getInductionVar();
  Block *inner = loop.getBody();
  Block::iterator end = std::prev(inner->end());
  inner->getOperations().splice(end, body);
  return lowerOps(inner->begin(), end);
}

/// Runs the item, and again where `ws.second_run` says so.
LogicalResult WorkItemLowering::lowerRedoLoop(ws::WorkLoopOp op) {
  Type flag = builder->getI1Type();
  Value no = arith::ConstantIntOp::create(*builder, loc, 0, 1);
  auto loop = scf::WhileOp::create(*builder, loc, TypeRange(), no);
  builder->createBlock(&loop.getAfter());
  Value yes = arith::ConstantIntOp::create(*builder, loc, 1, 1);
  scf::YieldOp::create(*builder, loc, yes);
  Block *before = builder->createBlock(&loop.getBefore(), {}, flag, loc);
  redoOfGrid = before->getArgument(0);
  before->getOperations().splice(before->end(),
                                 op.getBody().front().getOperations());
  return lowerOps(before->begin(), before->end());
}

void WorkItemLowering::lowerOwnedRows(tile::BoundsOp op) {
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
      first = add(first, mul(op.getSubtile(), rows));
    }
    owned.getFirst().replaceAllUsesWith(first);
    owned.getRows().replaceAllUsesWith(constant(rows));
  }
}

LogicalResult WorkItemLowering::lowerBounds(tile::BoundsOp op) {
  Value work = op.getWork();
  op.getBody().getArgument(0).replaceAllUsesWith(work);
  // The item is unpacked here, once for the region.
  bool unpacks =
      kernel.getConfig().getLastWaveParts() > 1 && !partsOf.contains(work);
  if (unpacks) {
    partsOf[work] = partOf(work);
  }
  lowerOwnedRows(op);
  for (Operation &inner :
       llvm::make_early_inc_range(op.getBody().front().without_terminator())) {
    if (isa<tile::OwnedRowsOp>(inner)) {
      continue;
    }
    inner.moveBefore(op);
    if (failed(lowerOps(inner.getIterator(), op->getIterator()))) {
      return failure();
    }
  }
  if (unpacks) {
    partsOf.erase(work);
  }
  op->replaceAllUsesWith(op.getBody().front().getTerminator()->getOperands());
  return success();
}

void WorkItemLowering::lowerPartOf(tile::PartOfOp op) {
  Part part = partOf(op.getWork());
  op->replaceAllUsesWith(ValueRange{part.part, part.isPart, part.item});
}

/// A part is computed with care from the start.
void WorkItemLowering::lowerWithCare(tile::WithCareOp op) {
  Value redo = redos.lookup(op.getWork());
  if (auto part = partsOf.find(op.getWork()); part != partsOf.end()) {
    redo = arith::OrIOp::create(*builder, loc, redo, part->second.isPart);
  }
  op.getResult().replaceAllUsesWith(redo);
}
