// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops that give a role its work items, in place.
#ifndef ATTN_CODEGEN_WORKITEMLOWERING_H
#define ATTN_CODEGEN_WORKITEMLOWERING_H

#include "Arithmetic.h"
#include "KernelParams.h"
#include "RolePlacement.h"
#include "SharedMemory.h"
#include "WorkOrder.h"
#include "attn/dialect/ItemChoice.h"
#include "attn/dialect/Nvx.h"

namespace attn::codegen {

class WorkItemLowering {
public:
  WorkItemLowering(ws::KernelOp kernel, const ParamValues &params,
                   const PlacedRole &placed)
      : kernel(kernel), params(params), role(placed.role),
        isSingleThread(placed.isSingleThread), at(role) {}

  mlir::LogicalResult run();

private:
  // WorkLoopLowering.cpp
  mlir::LogicalResult lowerOps(mlir::Block::iterator begin,
                               mlir::Block::iterator end);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerWorkLoop(ws::WorkLoopOp op);
  mlir::LogicalResult lowerRedoLoop(ws::WorkLoopOp op);
  mlir::LogicalResult lowerHandedOut(ws::WorkLoopOp op);
  void lowerOwnedRows(tile::BoundsOp op);
  mlir::LogicalResult lowerBounds(tile::BoundsOp op);
  void lowerPartOf(tile::PartOfOp op);
  void lowerWithCare(tile::WithCareOp op);
  void prepareDivisions(ws::WorkLoopOp loop);
  // WorkItemLowering.cpp
  void createAnswer(ws::TakeItemOp take);
  mlir::Value createFirstAnswer(ws::TakeItemOp take, mlir::Value first,
                                mlir::Value grid);
  mlir::Value takeFromCounter(mlir::Value items);
  /// The extents of `tile.next_work`, `ws.take_item` or `ws.item_at`.
  template <typename Op> static WorkExtents extentsOf(Op op) {
    return {op.getBlocks(), op.getHeads(), op.getBatches(), op.getSection()};
  }
  mlir::Value countItems(ws::TakeItemOp op, mlir::Value items);
  mlir::Value findPart(ws::TakeItemOp take, mlir::Value work,
                       mlir::Value number);
  void findItem(ws::TakeItemOp take, mlir::Value work);
  void lowerNextWork(tile::NextWorkOp op);
  void lowerTakeItem(ws::TakeItemOp op);
  mlir::Value packItem(mlir::Value work);
  void unpackItem(mlir::Value work, mlir::Value packed, bool hasVerdicts);
  /// Of a work item that may be a part of one: whether it is, its number among
  /// the parts, and the number of the item among those that are cut.
  struct Part {
    mlir::Value isPart, part, item;
  };
  mlir::Value packPart(const Part &part);
  Part partOf(mlir::Value work);
  void unpackVerdict(mlir::Value work, mlir::Value flags, bool isCut);
  void lowerPutWork(ws::PutWorkOp op);
  void lowerGetWork(ws::GetWorkOp op);
  void lowerFetchWork(ws::FetchWorkOp op);
  // SharedItems.cpp
  mlir::Value isFirstOfCluster();
  mlir::LogicalResult lowerShareWork(ws::ShareWorkOp op);
  void sendItem(ws::MailboxMemory mailbox, mlir::Value packed);
  mlir::Value receiveItem(ws::MailboxMemory mailbox);
  mlir::Value inCta(int64_t offset, int64_t rank);
  void fenceAsyncCopies();
  // RejectedItems.cpp
  void lowerChooseItem(ws::ChooseItemOp op);
  mlir::Value takeVerdict(ws::VerdictMemory verdicts, mlir::Value number);
  mlir::Value takeVerdictIf(mlir::Value due, ws::VerdictMemory verdicts,
                            mlir::Value number);
  mlir::Value sharedWord(mlir::Value offset);
  mlir::Value load(mlir::Value variable);

  /// Whether the first CTA of a cluster sends its items to the others.
  bool hasVerdict() {
    return !kernel.getBody().getOps<ws::VerdictOp>().empty();
  }
  bool sharesItems() {
    return !kernel.getBody().getOps<ws::MailboxOp>().empty();
  }
  int64_t clusterSize() { return kernel.getConfig().getCluster(); }
  mlir::Value rankInCluster();
  mlir::Value firstItem();
  mlir::Value itemsInFlight();
  mlir::Value slotPointer(mlir::Value slot);
  mlir::Value smemAddress(mlir::Value offset) {
    return codegen::smemAddress(*builder, loc, offset);
  }
  mlir::Value sharedPointer(mlir::Value address) {
    return codegen::sharedPointer(*builder, loc, address);
  }
  mlir::Value constant(int64_t value) {
    return Arithmetic{*builder, loc}.constant(value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return Arithmetic{*builder, loc}.add(a, b);
  }
  mlir::Value mul(mlir::Value a, int64_t b) {
    return Arithmetic{*builder, loc}.mul(a, b);
  }

  ws::KernelOp kernel;
  const ParamValues &params;
  ws::RoleOp role;
  bool isSingleThread;
  ws::WorkLoopOp workLoop;
  mlir::OpBuilder at;
  mlir::OpBuilder *builder = &at;
  mlir::Location loc = role.getLoc();
  llvm::DenseMap<mlir::Value, WorkPlace> works;
  llvm::DenseMap<mlir::Value, Part> partsOf;
  /// Of an item that another role handed out, the same in one word.
  llvm::DenseMap<mlir::Value, mlir::Value> packedParts;
  /// Used only where items are split into parts: the counter values of each
  /// CTA's first item, and the divisor by the number of parts.
  mlir::Value uncounted;
  Divisor partsDivisor;
  mlir::Value item; // the number of the current work item
  /// The variable with the counter's last answer, where items are handed out.
  mlir::Value answer;
  /// Of the items that the role computes itself.
  ItemPlaces places;
  /// Whether a work item exists, is run once more, and the slot of its verdict.
  llvm::DenseMap<mlir::Value, mlir::Value> numbers, exists, redos, verdictSlots;
  ws::TakeItemOp taken;
  /// Whether the one item of a CTA is run once more.
  mlir::Value redoOfGrid;
  /// Lowered ops, erased at the end: others still name their work items.
  llvm::SmallVector<mlir::Operation *> lowered;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WORKITEMLOWERING_H
