// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V28: the rows and columns of tiles. Each tile is followed from the
// tensor, through slots, products and registers, to the tensor that it is
// stored to. The operands of an op must have the same rows and columns, and a
// stored tile must have summed every block of the loop once.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_TILERANGES_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_TILERANGES_H

#include "SyncNumbers.h"
#include "WrittenRows.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

namespace attn {

/// The first element of a tile along a dimension.
struct TileStart {
  int64_t at;                                         // coordinate
  std::optional<std::pair<int64_t, int64_t>> of = {}; // batch and head
};

/// The position of a tile in its tensor, and the blocks that have been summed
/// in it.
struct TileRange {
  /// By dimension; nothing if the tile is the same along it, like a constant.
  llvm::SmallVector<std::optional<TileStart>, 2> starts;
  /// The blocks that products and reductions have summed, in order, by the
  /// iterations that run them.
  llvm::SmallVector<int64_t> summed;
  /// The tile may have summed other blocks: its operand was the same along the
  /// block, like scores that do not depend on the keys.
  bool sawSame = false;
  /// It is a broadcast vector of rows or columns.
  bool isSpread = false;
  /// It is a sum over heads and batches, which the loop stores.
  bool isAccumulated = false;

  bool isConstant() const {
    return starts.empty() && summed.empty() && !sawSame && !isSpread;
  }
};

/// The contents of shared memory, for all agents of a trial.
struct TileContents {
  using Cycle = std::tuple<int64_t, int, int64_t>; // CTA, channel, cycle
  std::map<Cycle, TileStart> rows; // the elements at which copies begin
  using Piece =
      std::tuple<int64_t, int, int64_t, int>; // CTA, hold, piece, item
  struct Put {
    TileRange range;
    int64_t lowest, pastHighest; // blocks that were run
  };
  std::map<Piece, Put> puts; // the last of the item
  struct Stored {
    ws::StoreOp op;
    Piece piece;
    TileStart row;
  };
  std::vector<Stored> stores;
  WrittenRows written;

  /// After all agents: checks the stores and the results of every item.
  mlir::LogicalResult checkStores(ws::KernelOp kernel,
                                  llvm::ArrayRef<SyncItem> items) const;
};

/// Follows the tiles of one agent as it is unrolled.
class TileRanges {
public:
  TileRanges(TileContents &contents, int64_t cta)
      : contents(contents), cta(cta) {}

  /// Visits an op that was run, as the last step if it is an event.
  mlir::LogicalResult visit(mlir::Operation *op, SyncNumbers &at);
  /// Checks that the results of a loop or a branch are used. Other unused
  /// values may come from a score or mask function.
  mlir::LogicalResult checkUsed(mlir::Operation *op, SyncNumbers &at) const;
  /// Renames the values of a region or block.
  void pass(mlir::ValueRange from, mlir::ValueRange to);
  /// The tiles that all agents have written so far.
  WrittenRows &getWritten() { return contents.written; }
  /// Merges the values of the two regions of a branch.
  mlir::LogicalResult passEither(mlir::scf::IfOp branch, SyncNumbers &at);

private:
  mlir::LogicalResult visitMma(ws::MmaOp mma, SyncNumbers &at);
  mlir::LogicalResult moveToPiece(ws::MmaOp mma, TileStart &rows,
                                  SyncNumbers &at) const;
  void visitReadRow(ws::ReadRowOp read, SyncNumbers &at);
  void visitPut(ws::PutOp put, SyncNumbers &at);
  mlir::LogicalResult visitStore(ws::StoreOp store, SyncNumbers &at);
  template <typename StoreOp>
  mlir::LogicalResult visitStoreOf(StoreOp store, SyncNumbers &at);
  template <typename LoadOp>
  mlir::LogicalResult visitLoad(LoadOp load, SyncNumbers &at);
  mlir::LogicalResult visitCoords(tile::CoordsOp coords, SyncNumbers &at);
  mlir::LogicalResult visitCopy(ws::CopyOp copy, SyncNumbers &at);
  mlir::LogicalResult visitBounds(tile::BoundsOp bounds, SyncNumbers &at);
  mlir::LogicalResult combine(mlir::Operation *op, SyncNumbers &at);
  TileRange rangeOf(mlir::Value value) const { return ranges.lookup(value); }
  TileRange operand(mlir::Value value, SlotRef slot, int item) const;
  TileRange allPieces(SlotRef slot, int item) const;

  TileContents &contents;
  int64_t cta;
  int64_t lowest = 0, pastHighest = 0; // blocks, for this replica and item
  std::optional<int64_t> subtile;      // the sub-tile of these blocks, if any
  llvm::DenseMap<mlir::Value, TileRange> ranges;
  /// The last tile that this agent put into a hold in an item.
  struct OwnPut {
    TileRange range;
    int64_t piece, rows; // of each piece
  };
  std::map<std::pair<int, int>, OwnPut> lastPuts; // by hold and item
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_TILERANGES_H
