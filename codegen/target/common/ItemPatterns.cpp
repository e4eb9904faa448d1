// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops that query a work item.
#include "ItemClaim.h"
#include "WorkItems.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// Computes the item of a CTA that computes its items itself.
struct NextWorkPattern : ItemPattern<tile::NextWorkOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(tile::NextWorkOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    WorkNumbering numbering =
        emit.numberingOf(extentsOf(op), /*manyItems=*/false);
    RoleItem item;
    item.second = items.isSecondRun;
    Value number = claimsItem(items.kernel)
                       ? claimedItem(rewriter, op.getLoc(), items.kernel)
                       : items.first;
    item.coords = numbering.coordsOf(rewriter, op.getLoc(), number);
    moveToOwnBlock(emit, item.coords);
    items.items[op.getWork()] = item;
    return items.done(op);
  }
};

struct CoordsPattern : ItemPattern<tile::WorkCoordsOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(tile::WorkCoordsOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, ArrayRef<Value>(items.items[op.getWork()].coords));
    return success();
  }
};

struct PartOfPattern : ItemPattern<tile::PartOfOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(tile::PartOfOp op,
                                PatternRewriter &rewriter) const override {
    ItemPart part =
        partOf(at(rewriter, op.getLoc()), items.items[op.getWork()]);
    rewriter.replaceOp(op, {part.part, part.isPart, part.item});
    return success();
  }
};

struct WithCarePattern : ItemPattern<tile::WithCareOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(tile::WithCareOp op,
                                PatternRewriter &rewriter) const override {
    const RoleItem &item = items.items[op.getWork()];
    Value withCare = item.withCare ? item.withCare : item.second;
    if (item.part) {
      withCare = arith::OrIOp::create(rewriter, op.getLoc(), withCare,
                                      item.part->isPart);
    }
    rewriter.replaceOp(op, withCare);
    return success();
  }
};

struct VerdictSlotPattern : ItemPattern<ws::VerdictSlotOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::VerdictSlotOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, items.items[op.getWork()].verdictSlot);
    return success();
  }
};

/// Inlines the body; its ops are lowered later, and with them the results.
struct BoundsPattern : ItemPattern<tile::BoundsOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(tile::BoundsOp op,
                                PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    Operation *yield = body.getTerminator();
    RoleItem &item = items.items[op.getWork()];
    bool isUnpacked = item.packedPart && item.part;
    if (&body.front() == yield) {
      if (isUnpacked) {
        item.part.reset();
      }
      rewriter.replaceOp(op, SmallVector<Value>(yield->getOperands()));
      return success();
    }
    body.getArgument(0).replaceAllUsesWith(op.getWork());
    if (item.packedPart) {
      // The item is unpacked here, once for the region.
      item.part = partOf(at(rewriter, op.getLoc()), item);
    }
    lowerOwnedRows(at(rewriter, op.getLoc()), op);
    op->getBlock()->getOperations().splice(op->getIterator(),
                                           body.getOperations(), body.begin(),
                                           yield->getIterator());
    return success();
  }

private:
  void lowerOwnedRows(const ItemOps &emit, tile::BoundsOp op) const {
    int64_t ctas = clusterOf(items.kernel);
    int64_t rows = op.countOwnedRows(items.kernel.getConfig());
    for (auto owned :
         llvm::make_early_inc_range(op.getBody().getOps<tile::OwnedRowsOp>())) {
      Value block = items.items[op.getWork()].coords[0];
      if (!op.getSubtile() && ctas > 1) {
        block = emit.bitAnd(block, -ctas);
      }
      Value first = emit.mul(block, blockRowsOf(items.kernel));
      if (op.getSubtile()) {
        first = emit.add(first, emit.mul(op.getSubtile(), rows));
      }
      owned.getFirst().replaceAllUsesWith(first);
      owned.getRows().replaceAllUsesWith(emit.constant(rows));
      owned.erase();
    }
  }
};

/// Runs a loop over rows in the lanes of a warp, which combine their results
/// with those of the others; a role of one thread runs all iterations, some of
/// them together, so that their loads overlap.
struct RowLoopPattern : ItemPattern<scf::ParallelOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(scf::ParallelOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    Value begin = toNumber(emit, op.getLowerBound().front()),
          end = toNumber(emit, op.getUpperBound().front());
    int64_t lanes = items.isSingleThread ? 1 : warpThreads,
            together = items.isSingleThread ? 4 : 1;
    auto loop = scf::ForOp::create(
        rewriter, op.getLoc(), emit.constant(0), emit.sub(end, begin),
        emit.constant(lanes * together), op.getInitVals());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value first = emit.add(begin, loop.getInductionVar()),
            last = emit.sub(end, emit.constant(1));
      if (lanes > 1) {
        first = emit.add(first, emit.lane());
      }
      SmallVector<Value> sums(loop.getRegionIterArgs());
      for (int64_t n = 0; n < together; ++n) {
        // Rows beyond the last one repeat it.
        Value row = arith::MinSIOp::create(rewriter, op.getLoc(),
                                           emit.add(first, n), last);
        addIteration(emit, op, row, sums);
      }
      scf::YieldOp::create(rewriter, op.getLoc(), sums);
    }
    SmallVector<Value> results(loop.getResults());
    for (int64_t distance = 1; distance < lanes; distance *= 2) {
      for (auto [number, value] : llvm::enumerate(results)) {
        Value other = NVVM::ShflOp::create(
            rewriter, op.getLoc(), value.getType(), emit.constant(-1), value,
            emit.constant(distance), emit.constant(warpThreads - 1),
            NVVM::ShflKind::bfly, UnitAttr());
        value = combine(emit, op, number, value, other);
      }
    }
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static Value toNumber(const ItemOps &emit, Value index) {
    return arith::IndexCastOp::create(emit.builder, emit.loc,
                                      emit.builder.getI32Type(), index);
  }

  static void addIteration(const ItemOps &emit, scf::ParallelOp op, Value row,
                           SmallVectorImpl<Value> &sums) {
    IRMapping map;
    Value index = arith::IndexCastOp::create(emit.builder, emit.loc,
                                             emit.builder.getIndexType(), row);
    map.map(op.getInductionVars().front(), index);
    for (Operation &inner : op.getBody()->without_terminator()) {
      emit.builder.clone(inner, map);
    }
    Operation *end = op.getBody()->getTerminator();
    for (auto [number, sum] : llvm::enumerate(sums)) {
      sum = combine(emit, op, number, sum,
                    map.lookupOrDefault(end->getOperand(unsigned(number))));
    }
  }

  /// Combines two numbers as reduction `number` of the loop does.
  static Value combine(const ItemOps &emit, scf::ParallelOp op, size_t number,
                       Value a, Value b) {
    auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
    Block &block = reduce.getReductions()[number].front();
    IRMapping map;
    map.map(block.getArguments(), ValueRange{a, b});
    for (Operation &inner : block.without_terminator()) {
      emit.builder.clone(inner, map);
    }
    return map.lookupOrDefault(block.getTerminator()->getOperand(0));
  }
};

} // namespace

void codegen::moveToOwnBlock(const ItemOps &emit, WorkCoords &coords) {
  if (clusterOf(emit.items.kernel) > 1) {
    coords[0] = emit.add(emit.mul(coords[0], clusterOf(emit.items.kernel)),
                         emit.rankInCluster());
  }
}

void codegen::populateItemPatterns(RewritePatternSet &patterns,
                                   RoleItems &items) {
  patterns.add<NextWorkPattern, CoordsPattern, PartOfPattern, WithCarePattern,
               VerdictSlotPattern, BoundsPattern, RowLoopPattern>(
      patterns.getContext(), items);
}
