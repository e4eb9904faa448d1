// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the barrier ops of one warp of a role, lane by lane, and lists them in
// program order.
#ifndef ATTN_CODEGEN_WARPUNROLLER_H
#define ATTN_CODEGEN_WARPUNROLLER_H

#include "WarpValues.h"
#include "attn/dialect/ItemChoice.h"

namespace attn::codegen {

/// One use of a barrier, or of memory of a hold.
struct BarrierEvent {
  enum Kind {
    Init,     // `address`, `number`: arrivals
    Word,     // `address`: a word that setup clears
    Arrive,   // `address`, `number`: bytes announced
    Copy,     // `address`, `number`: bytes that will arrive
    Wait,     // `address`, `number`: parity
    Meet,     // `address`: the id of a named barrier, `number`: threads
    Pass,     // the same, without waiting
    Put,      // `address`: the address of a piece
    Read,     // the same, by the async proxy: what the warp itself put
    ReadAll,  // the same: what all warps of the CTA put
    AwaitMma, // `op`: the product whose reads have ended
    Store,    // the same, by the copy engine; it must be awaited
    Add,      // the same, of what the warp itself put
    Fence,
    AwaitStores,
  };
  Kind kind;
  mlir::Operation *op;
  int32_t address = 0;
  int64_t number = 0;
  uint32_t lanes = 0;   // lanes that take part
  mlir::Attribute hold; // the name of the hold of a piece
  /// A piece, by its address and hold: holds may share memory.
  std::pair<int32_t, mlir::Attribute> piece() const { return {address, hold}; }
};

class WarpUnroller {
public:
  WarpUnroller(ws::KernelOp kernel, const RoleSlice &slice, WarpId warp,
               llvm::ArrayRef<TrialItem> items)
      : kernel(kernel), slice(slice), warp(warp), items(items),
        values(kernel, slice, warp) {}

  /// Reports a barrier or condition that cannot be computed here.
  mlir::LogicalResult unroll(mlir::Block &block, uint32_t lanes);
  llvm::SmallVector<BarrierEvent, 0> take() { return std::move(events); }

private:
  mlir::LogicalResult run(mlir::Block &block, uint32_t lanes);
  mlir::LogicalResult runOp(mlir::Operation *op, uint32_t lanes);
  mlir::LogicalResult runWork(ws::WorkLoopOp loop, uint32_t lanes);
  mlir::LogicalResult runFor(mlir::scf::ForOp loop, uint32_t lanes);
  mlir::LogicalResult runIf(mlir::scf::IfOp branch, uint32_t lanes);
  mlir::LogicalResult runEvent(mlir::Operation *op, uint32_t lanes);
  mlir::LogicalResult runStore(mlir::LLVM::StoreOp store, uint32_t lanes);
  void takeVerdicts(ws::ChooseItemOp choose, uint32_t lanes);

  /// Adds an event at an address in each lane.
  mlir::LogicalResult add(BarrierEvent::Kind kind, mlir::Operation *op,
                          mlir::Value address, mlir::Value number,
                          uint32_t lanes);
  mlir::LogicalResult addPiece(BarrierEvent::Kind kind, mlir::Operation *op,
                               mlir::FlatSymbolRefAttr hold, mlir::Value piece,
                               uint32_t lanes);
  mlir::LogicalResult addCopy(ws::CopyOp copy, uint32_t lanes);
  mlir::LogicalResult addReads(ws::MmaOp mma, uint32_t lanes);

  ws::KernelOp kernel;
  const RoleSlice &slice;
  WarpId warp;
  llvm::ArrayRef<TrialItem> items;
  WarpValues values;
  int64_t iteration = 0; // of the work loop
  ws::HandOutState<int64_t> handOut;
  llvm::SmallVector<BarrierEvent, 0> events;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WARPUNROLLER_H
