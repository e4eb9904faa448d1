// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkItems.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

//===----------------------------------------------------------------------===//
// What patterns emit with.
//===----------------------------------------------------------------------===//

void ItemOps::enterIf(Value condition) const {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
}

Value ItemOps::shared(Value offset) const {
  return sharedPointer(builder, loc, smemAddress(builder, loc, offset));
}

Value ItemOps::load(Value variable) const {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), variable);
}

Value ItemOps::rankInCluster() const {
  return nvx::ClusterRankOp::create(builder, loc, builder.getI32Type());
}

Value ItemOps::firstItem() const {
  Type i32 = builder.getI32Type();
  return clusterOf(items.kernel) > 1
             ? NVVM::ClusterIdXOp::create(builder, loc, i32).getResult()
             : NVVM::BlockIdXOp::create(builder, loc, i32).getResult();
}

WorkNumbering ItemOps::numberingOf(const WorkExtents &extents,
                                   bool manyItems) const {
  return WorkNumbering(builder, loc, orderOf(items.kernel),
                       startsAtFirstBlock(items.kernel), extents, manyItems);
}

Value ItemOps::itemsInFlight() const {
  Type i32 = builder.getI32Type();
  return clusterOf(items.kernel) > 1
             ? NVVM::ClusterDimXOp::create(builder, loc, i32).getResult()
             : NVVM::GridDimXOp::create(builder, loc, i32).getResult();
}

//===----------------------------------------------------------------------===//
// The walk.
//===----------------------------------------------------------------------===//

namespace {

/// Applies patterns to ops in order, including ops that patterns create, and
/// walks into the regions of the others.
class ItemWalk {
public:
  ItemWalk(RoleItems &items, const FrozenRewritePatternSet &patterns)
      : items(items), applicator(patterns),
        rewriter(items.kernel.getContext()) {
    applicator.applyDefaultCostModel();
  }

  LogicalResult run(Block &block) {
    Operation *op = block.empty() ? nullptr : &block.front();
    while (op) {
      Operation *before = op->getPrevNode();
      if (items.lowered.contains(op)) {
        op = op->getNextNode();
        continue;
      }
      rewriter.setInsertionPoint(op);
      if (succeeded(applicator.matchAndRewrite(op, rewriter))) {
        op = before          ? before->getNextNode()
             : block.empty() ? nullptr
                             : &block.front();
        continue;
      }
      if (failed(enter(op))) {
        return failure();
      }
      op = op->getNextNode();
    }
    return success();
  }

private:
  LogicalResult enter(Operation *op) {
    if (isa_and_nonnull<ws::WsDialect, tile::TileDialect,
                        tensor::TensorDialect>(op->getDialect())) {
      return op->emitOpError("attn-lower-to-nvvm: no lowering for this op");
    }
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        if (failed(run(block))) {
          return failure();
        }
      }
    }
    return success();
  }

  RoleItems &items;
  PatternApplicator applicator;
  PatternRewriter rewriter;
};

} // namespace

LogicalResult codegen::lowerWorkItems(ws::KernelOp kernel,
                                      const ParamValues &params,
                                      const PlacedRole &placed) {
  RoleItems items(kernel, params, placed);
  RewritePatternSet patterns(kernel.getContext());
  populateWorkLoopPatterns(patterns, items);
  populateItemPatterns(patterns, items);
  populateHandOutPatterns(patterns, items);
  populateMailboxPatterns(patterns, items);
  FrozenRewritePatternSet frozen(std::move(patterns));
  if (failed(ItemWalk(items, frozen).run(items.role.getBody().front()))) {
    return failure();
  }
  for (Operation *op : llvm::reverse(items.lowered)) {
    op->erase();
  }
  return success();
}
