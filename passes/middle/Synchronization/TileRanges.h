// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V28: which rows and columns tiles are of. Each tile is followed from the
// tensor, through slots, products and registers, to the tensor that it is
// stored to. What an op combines is of the same rows and columns, and what is
// stored has seen every block of the loop once.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_TILERANGES_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_TILERANGES_H

#include "SyncNumbers.h"
#include "WrittenRows.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

namespace attn {

/// The first of the elements that a tile has along a dimension.
struct TileStart {
  int64_t at;                                         // coordinate
  std::optional<std::pair<int64_t, int64_t>> of = {}; // batch and head
};

/// Where in its tensor a tile begins, and what has been summed up in it.
struct TileRange {
  /// By dimension; none where a tile is the same along it, as constants are.
  llvm::SmallVector<std::optional<TileStart>, 2> starts;
  /// The blocks that products and reductions have run over, in order.
  llvm::SmallVector<int64_t> summed;
  /// It may have seen other blocks: what was summed up was the same along the
  /// block, as scores are that do not depend on the keys.
  bool sawSame = false;
  /// It repeats a vector of rows or columns.
  bool isSpread = false;

  bool isConstant() const {
    return starts.empty() && summed.empty() && !sawSame && !isSpread;
  }
};

/// What is where in shared memory, for all agents of a trial.
struct TileContents {
  using Cycle = std::tuple<int64_t, int, int64_t>; // CTA, channel, cycle
  std::map<Cycle, TileStart> rows;                 // at which copies begin
  using Piece =
      std::tuple<int64_t, int, int64_t, int>; // CTA, hold, piece, item
  struct Put {
    TileRange range;
    int64_t lowest, pastHighest; // blocks that were walked
  };
  std::map<Piece, Put> puts; // the last of the item
  struct Stored {
    ws::StoreOp op;
    Piece piece;
    TileStart row;
  };
  std::vector<Stored> stores;
  WrittenRows written;

  /// After all agents: what was stored is right, and every item's results are.
  mlir::LogicalResult checkStores(ws::KernelOp kernel,
                                  llvm::ArrayRef<SyncItem> items) const;
};

/// Follows the tiles of one agent as it is unrolled.
class TileRanges {
public:
  TileRanges(TileContents &contents, int64_t cta)
      : contents(contents), cta(cta) {}

  /// An op was run, as the last step if it is an event.
  mlir::LogicalResult visit(mlir::Operation *op, SyncNumbers &at);
  /// What a loop or a branch makes is used. What else is unused may be the
  /// text of a score or mask function.
  mlir::LogicalResult checkUsed(mlir::Operation *op, SyncNumbers &at) const;
  /// The values of a region or block become others.
  void pass(mlir::ValueRange from, mlir::ValueRange to);
  /// How many tiles were written so far.
  size_t countWritten() const { return contents.written.size(); }
  /// Either of two regions may have run: one wrote the tiles from number
  /// `first` on, the other those from `second` on. Keeps what both wrote.
  void keepCommon(size_t first, size_t second) {
    contents.written.keepCommon(first, second);
  }
  /// The same from either of two regions.
  mlir::LogicalResult passEither(mlir::scf::IfOp branch, SyncNumbers &at);

private:
  mlir::LogicalResult visitMma(ws::MmaOp mma, SyncNumbers &at);
  mlir::LogicalResult moveToPiece(ws::MmaOp mma, TileStart &rows,
                                  SyncNumbers &at) const;
  void visitPut(ws::PutOp put, SyncNumbers &at);
  mlir::LogicalResult visitStore(ws::StoreOp store, SyncNumbers &at);
  template <typename StoreOp>
  mlir::LogicalResult visitStoreOf(StoreOp store, SyncNumbers &at);
  mlir::LogicalResult visitReduceAdd(tile::ReduceAddOp add, SyncNumbers &at);
  template <typename LoadOp>
  mlir::LogicalResult visitLoad(LoadOp load, SyncNumbers &at);
  mlir::LogicalResult visitCoords(tile::CoordsOp coords, SyncNumbers &at);
  mlir::LogicalResult visitCopy(ws::CopyOp copy, SyncNumbers &at);
  mlir::LogicalResult visitBounds(tile::BoundsOp bounds, SyncNumbers &at);
  mlir::LogicalResult combine(mlir::Operation *op, SyncNumbers &at);
  TileRange rangeOf(mlir::Value value) const { return ranges.lookup(value); }
  TileRange operand(mlir::Value value, SlotRef slot, int item) const;

  TileContents &contents;
  int64_t cta;
  int64_t lowest = 0, pastHighest = 0; // blocks, for this replica and item
  std::optional<int64_t> subtile;      // whose blocks they are, if not of all
  llvm::DenseMap<mlir::Value, TileRange> ranges;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_TILERANGES_H
