// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops that query a work item.
#include "WorkItems.h"

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
    item.coords = numbering.coordsOf(rewriter, op.getLoc(), items.first);
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
               VerdictSlotPattern, BoundsPattern>(patterns.getContext(), items);
}
