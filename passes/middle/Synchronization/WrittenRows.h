// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V28: every work item writes each row of its results once, and adds to
// each row of the blocks that it runs. The number of rows of an item follows
// from the rows themselves: they end where those of the next row block begin.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_WRITTENROWS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_WRITTENROWS_H

#include "SyncRun.h"

namespace attn {

/// Part, batch and head of a tensor.
using TensorPlane = std::array<int64_t, 3>;

/// A tile that was written or added to a tensor.
struct WrittenTile {
  const void *dest;
  int item;
  TensorPlane plane;
  int64_t row, rows;
  /// The role and the replica that wrote it.
  std::pair<const void *, int64_t> agent;
  /// The distance from the row to the one in the next row block of the same
  /// batch and head, if there is one, and to the one in the next iteration of a
  /// loop; 0 if it is the same row.
  std::optional<int64_t> toNextItem;
  int64_t toNextIteration;
  bool changesHead; // the next iteration is of another head

  bool operator==(const WrittenTile &other) const;
};

class WrittenRows {
public:
  void note(WrittenTile tile) { tiles.push_back(tile); }

  /// Either of two regions may have run: one wrote the tiles from `first` on,
  /// the other those from `second` on. Keeps the tiles that both wrote.
  void keepCommon(size_t first, size_t second);
  size_t size() const { return tiles.size(); }

  /// Checks the results after all agents of a trial.
  mlir::LogicalResult check(ws::KernelOp kernel,
                            llvm::ArrayRef<SyncItem> items) const;

private:
  std::vector<WrittenTile> tiles;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_WRITTENROWS_H
