// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops of a role, one by one, to instructions.
#ifndef ATTN_CODEGEN_INSTRUCTIONLOWERING_H
#define ATTN_CODEGEN_INSTRUCTIONLOWERING_H

#include "KernelParams.h"
#include "StampLayout.h"
#include "Swizzle.h"
#include "WorkOrder.h"
#include "attn/dialect/Nvx.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

class InstructionLowering {
public:
  InstructionLowering(ws::KernelOp kernel, mlir::LLVM::LLVMFuncOp function,
                      llvm::ArrayRef<Param> params, llvm::StringRef smem)
      : kernel(kernel), function(function), params(params), smemName(smem),
        stamps(StampLayout::of(kernel)) {}

  /// The scalar ops of the kernel's body, outside of roles.
  mlir::LogicalResult lowerScalars(mlir::OpBuilder &builder);
  struct JoinSpace;
  /// Lowers all ops of a block at the builder's place.
  mlir::LogicalResult lowerBlock(mlir::Block &block, mlir::OpBuilder &builder);
  void map(mlir::Value from, mlir::Value to) { values.map(from, to); }
  /// What stands round a role's program where the kernel has stamps.
  void beginStamps(ws::RoleOp role, mlir::OpBuilder &builder);
  void endStamps(mlir::OpBuilder &builder);

private:
  mlir::LogicalResult lowerOps(llvm::iterator_range<mlir::Block::iterator> ops,
                               mlir::OpBuilder &builder);
  mlir::LogicalResult lower(mlir::Operation *op);
  /// What becomes values that are there, or stays as it is.
  mlir::LogicalResult lowerToValues(mlir::Operation *op);
  // StructureLowering.cpp
  mlir::LogicalResult lowerWorkLoop(ws::WorkLoopOp op);
  mlir::LogicalResult lowerRedoLoop(ws::WorkLoopOp op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  void lowerOwnedRows(tile::BoundsOp op);
  mlir::LogicalResult lowerBounds(tile::BoundsOp op);
  // WorkItemLowering.cpp
  mlir::LogicalResult lowerHandedOut(ws::WorkLoopOp op);
  void createAnswer(tile::NextWorkOp next);
  mlir::Value createFirstAnswer(tile::NextWorkOp next, mlir::Value first,
                                mlir::Value grid);
  mlir::Value takeFromCounter(mlir::Value items);
  WorkExtents extentsOf(tile::NextWorkOp op);
  mlir::Value countItems(tile::NextWorkOp op);
  mlir::Value findPart(tile::NextWorkOp op);
  void prepareDivisors(ws::WorkLoopOp loop);
  void lowerNextWork(tile::NextWorkOp op);
  void takeItem(tile::NextWorkOp op);
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
  void shareItem(tile::NextWorkOp op);
  void sendItem(int64_t mailbox, mlir::Value packed);
  mlir::Value receiveItem(int64_t mailbox);
  mlir::Value inCta(int64_t offset, int64_t rank);
  void fenceAsyncCopies();
  // RejectedItems.cpp
  void chooseItem(tile::NextWorkOp op, mlir::Value isNew);
  mlir::Value takeVerdict(int64_t verdicts, mlir::Value number);
  mlir::Value takeVerdictIf(mlir::Value due, int64_t verdicts,
                            mlir::Value number);
  mlir::Value sharedWord(mlir::Value offset);
  mlir::Value load(mlir::Value variable);
  // CopyLowering.cpp
  /// A place in a tensor, and a copy's part of the tile there.
  struct Place {
    mlir::Value row, head, batch;
    mlir::AffineMap map;
  };
  struct Box {
    llvm::SmallVector<mlir::Value> coordinates;
    int64_t offset; // in the tile, bytes
  };
  llvm::SmallVector<Box> packedBoxesOf(SmemTile tile, int64_t columns, Place at,
                                       int64_t packed);
  llvm::SmallVector<Box> boxesOf(SmemTile tile, mlir::Value tensor, Place at,
                                 int64_t ctas = 1);
  mlir::Value shareOffset(SmemTile tile, int64_t ctas);
  void lowerCopy(ws::CopyOp op);
  void lowerStore(ws::StoreOp op);
  void lowerPut(ws::PutOp op);
  // ElementLowering.cpp
  mlir::Value elementPointer(mlir::Value tensor, mlir::ValueRange indices);
  mlir::Value threadRow();
  void lowerStoreRow(tile::StoreRowOp op);
  mlir::Value gatherElement(tile::GatherOp op, mlir::ValueRange indices);
  void lowerGather(tile::GatherOp op);
  // RegisterTileLowering.cpp
  struct ThreadRow;
  template <typename AccessT>
  ThreadRow rowOfThread(const AccessT &access, int64_t i, bool isTile);
  mlir::Value pairPointer(mlir::Value rowPointer, mlir::Type element,
                          int64_t n);
  void lowerStoreReg(tile::StoreRegOp op);
  void lowerReduceAdd(tile::ReduceAddOp op);
  void lowerLoad(tile::LoadOp op);
  void lowerLoadRow(tile::LoadRowOp op);
  // MmaLowering.cpp
  mlir::LogicalResult lowerMma(ws::MmaOp op);
  mlir::LogicalResult lowerAwait(ws::AwaitOp op);
  // JoinLowering.cpp
  void lowerIsRedo(tile::IsRedoOp op);
  void lowerJoin(tile::JoinOp op);
  llvm::SmallVector<mlir::Value>
  mergeParts(tile::JoinOp op, mlir::ValueRange own, const JoinSpace &space);
  // StampLowering.cpp
  void lowerStamp(ws::StampOp op);
  mlir::Value stampCursor();
  mlir::Value stampRing(ws::RoleOp role);
  void writeStampHeader(mlir::Value ring, int64_t half, mlir::Value word);
  mlir::Value workspace();

  mlir::Value paramOf(Param::Kind kind, mlir::Value tensor, int64_t dim = 0);
  mlir::Value cutParam(int64_t result);
  mlir::Value slotAddress(mlir::Value slot);
  mlir::Value smemAddress(mlir::Value offset);
  mlir::Value sharedPointer(mlir::Value address);
  mlir::Value descriptorLow(mlir::Value address, int64_t leadingBytes);
  mlir::Value tid();
  int64_t clusterSize() { return kernel.getConfig().getCluster(); }
  mlir::Value rankInCluster();
  mlir::Value firstItem();
  mlir::Value itemsInFlight();
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(*builder, loc, value, 32);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddIOp::create(*builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, int64_t b) {
    return mlir::arith::MulIOp::create(*builder, loc, a, constant(b));
  }

  ws::KernelOp kernel;
  mlir::LLVM::LLVMFuncOp function;
  llvm::ArrayRef<Param> params;
  std::string smemName;
  mlir::IRMapping values;
  mlir::OpBuilder *builder = nullptr;
  mlir::Location loc = mlir::UnknownLoc::get(kernel.getContext());
  /// The base of shared memory as taken in the innermost loop; null outside.
  mlir::Value smemBase;
  llvm::DenseMap<mlir::Value, WorkPlace> works;
  llvm::DenseMap<mlir::Value, Part> partsOf;
  /// Of an item that another role handed out, the same in one word.
  llvm::DenseMap<mlir::Value, mlir::Value> packedParts;
  /// Of items that may be parts: answers that the counter gave for first items,
  /// which it else does not, and what divides by the number of parts.
  mlir::Value uncounted;
  Divisor partsDivisor;
  mlir::Value item; // the number of the current work item
  /// Of handed out items: the variable with the counter's last answer, and
  /// whether a work item exists.
  mlir::Value answer;
  /// Of the items that the role computes itself.
  ItemPlaces places;
  /// Prepared before the loop over work items.
  llvm::DenseMap<mlir::Value, Divisor> divisors;
  llvm::DenseMap<mlir::Value, mlir::Value> exists;
  /// Of a work item: whether it is run once more, and which slot takes the
  /// verdict on it. Of a grid, where there is one item and one slot:
  llvm::DenseMap<mlir::Value, mlir::Value> redos, verdictSlots;
  mlir::Value redoOfGrid;
  std::optional<StampLayout> stamps;
  /// Of the role: the variable with the place of the next stamp, or where that
  /// is in shared memory.
  mlir::Value cursor;
  int64_t sharedCursor = 0;
  /// Groups issued so far in a block, to count how many follow a token.
  llvm::DenseMap<mlir::Value, int64_t> issueOrder;
  int64_t issued = 0;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_INSTRUCTIONLOWERING_H
