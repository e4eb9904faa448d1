// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the work items of one role to instructions, with one pattern for each
// op; the ops are lowered in order, outermost first.
#ifndef ATTN_CODEGEN_WORKITEMS_H
#define ATTN_CODEGEN_WORKITEMS_H

#include "Arithmetic.h"
#include "ParamValues.h"
#include "RolePlacement.h"
#include "SharedMemory.h"
#include "WorkOrder.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/dialect/ItemMemory.h"
#include "attn/dialect/Nvx.h"

namespace attn::codegen {

/// For a work item that may be a part: whether it is one, the number of the
/// part, and the number of the item among those that are cut.
struct ItemPart {
  mlir::Value isPart, part, item;
};

/// The values of a work item in a role.
struct RoleItem {
  WorkCoords coords;
  mlir::Value number; // of an item that the role takes itself
  mlir::Value exists; // if items are handed out
  /// If items may be rejected: whether this is the second run, whether the item
  /// is computed with care (null if that is the same, except for `part`), and
  /// the slot of its verdict.
  mlir::Value second, withCare, verdictSlot;
  std::optional<ItemPart> part;
  /// The part in one word, if another role has handed the item out.
  mlir::Value packedPart;
};

/// The words that a role reads and writes to get its items from the grid.
struct GridCounter {
  mlir::Value answer; // the variable with the last reply
  /// Used only where items are split into parts: the counter values of each
  /// CTA's first item, and the divisor by the number of parts.
  mlir::Value uncounted;
  Divisor parts;
};

/// Shared by the patterns of a role.
struct RoleItems {
  RoleItems(ws::KernelOp kernel, const ParamValues &params,
            const PlacedRole &placed)
      : kernel(kernel), params(params), role(placed.role),
        isSingleThread(placed.isSingleThread) {}

  ws::VerdictOp verdict() { return declared<ws::VerdictOp>(); }
  /// The mailbox through which the first CTA of a cluster sends its items.
  ws::MailboxOp mailbox() { return declared<ws::MailboxOp>(); }

  /// Marks the op as lowered. It is erased at the end: its results still have
  /// uses.
  mlir::LogicalResult done(mlir::Operation *op) {
    lowered.insert(op);
    return mlir::success();
  }

  ws::KernelOp kernel;
  const ParamValues &params;
  ws::RoleOp role;
  const bool isSingleThread;
  llvm::DenseMap<mlir::Value, RoleItem> items;
  mlir::Value first; // the number of the first item, or of the current one
  /// For the items whose coordinates the role computes itself.
  WorkNumbering numbering;
  GridCounter counter;
  ws::TakeItemOp taken; // the op that reads it
  /// Whether the only item of a CTA is in its second run.
  mlir::Value isSecondRun;
  llvm::SetVector<mlir::Operation *> lowered;

private:
  template <typename Op> Op declared() {
    auto ops = kernel.getBody().getOps<Op>();
    return ops.empty() ? Op() : *ops.begin();
  }
};

/// Emits at the insertion point of its builder.
struct ItemOps : Arithmetic {
  RoleItems &items;

  void enterIf(mlir::Value condition) const;
  /// Returns a pointer to a byte of shared memory.
  mlir::Value shared(mlir::Value offset) const;
  mlir::Value shared(int64_t offset) const { return shared(constant(offset)); }
  mlir::Value load(mlir::Value variable) const;
  /// The number of this CTA in its cluster, whose items have a row block for
  /// each CTA.
  mlir::Value rankInCluster() const;
  mlir::Value isFirstCta() const { return isEqual(rankInCluster(), 0); }
  /// The number of the first work item of this CTA, or of this cluster.
  mlir::Value firstItem() const;
  /// Returns the numbering of all items, in the kernel's order.
  WorkNumbering numberingOf(const WorkExtents &extents, bool manyItems) const;
  /// The number of work items that the grid works on at a time.
  mlir::Value itemsInFlight() const;
  mlir::Value select(mlir::Value condition, mlir::Value a,
                     mlir::Value b) const {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  mlir::Value isNot(mlir::Value flag) const {
    mlir::Value yes = mlir::arith::ConstantIntOp::create(builder, loc, 1, 1);
    return mlir::arith::XOrIOp::create(builder, loc, flag, yes);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) const {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
};

/// A pattern for an op of the role.
template <typename Op> struct ItemPattern : mlir::OpRewritePattern<Op> {
  ItemPattern(mlir::MLIRContext *context, RoleItems &items)
      : mlir::OpRewritePattern<Op>(context), items(items) {}

protected:
  ItemOps at(mlir::OpBuilder &builder, mlir::Location loc) const {
    return {{builder, loc}, items};
  }
  RoleItems &items;
};

void populateWorkLoopPatterns(mlir::RewritePatternSet &patterns,
                              RoleItems &items);
void populateItemPatterns(mlir::RewritePatternSet &patterns, RoleItems &items);
void populateHandOutPatterns(mlir::RewritePatternSet &patterns,
                             RoleItems &items);
void populateMailboxPatterns(mlir::RewritePatternSet &patterns,
                             RoleItems &items);

/// Returns the extents of `tile.next_work` or `ws.take_item`.
template <typename Op> WorkExtents extentsOf(Op op) {
  return {op.getBlocks(), op.getHeads(), op.getBatches(), op.getSection()};
}

/// Adds the row block of this CTA to an item of a cluster.
void moveToOwnBlock(const ItemOps &emit, WorkCoords &coords);

/// Packs an item for shared memory, and unpacks it. Row block -1 means no item.
mlir::Value packItem(const ItemOps &emit, const RoleItem &item);
RoleItem unpackItem(const ItemOps &emit, mlir::Value packed);
/// Returns which part an item is, unpacked where it is needed.
ItemPart partOf(const ItemOps &emit, const RoleItem &item);

/// Creates the variable with the counter's reply, before the loop.
void createCounter(const ItemOps &emit, ws::TakeItemOp take);

/// Lowers the ops that give a role its work items, in place.
mlir::LogicalResult lowerWorkItems(ws::KernelOp kernel,
                                   const ParamValues &params,
                                   const PlacedRole &placed);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WORKITEMS_H
