// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The versions of a streaming loop's values while its time steps are written:
// as computed in this step, in the previous one, and so on.
#ifndef ATTN_PASSES_PIPELINING_LOOPVALUES_H
#define ATTN_PASSES_PIPELINING_LOOPVALUES_H

#include "attn/dialect/Ws.h"
#include "llvm/ADT/MapVector.h"

namespace attn {

class LoopValues {
public:
  explicit LoopValues(ws::ForOp loop) : loop(loop) {}

  /// Records that an entry of shift `readerShift` reads a value. Returns false
  /// if no entry of the loop computes it.
  bool noteRead(mlir::Value value, int64_t readerShift);
  /// Sets iteration -1 of the carried values that are computed at `time` + 1 to
  /// their initial values.
  void setInitial(int64_t time);
  /// Makes every version one step older.
  void advance();
  /// Returns the version that an entry of shift `readerShift` reads, or null if
  /// there is none yet.
  mlir::Value lookup(mlir::Value value, int64_t readerShift);
  /// Returns the version of an age, or null.
  mlir::Value get(mlir::OpResult value, int64_t age);
  void set(mlir::OpResult value, int64_t age, mlir::Value version);
  void replace(mlir::Value version, mlir::Value by);
  void clear();
  /// The versions that a later step reads.
  llvm::SmallVector<std::pair<mlir::OpResult, int64_t>> carried() const;

private:
  ws::ForOp loop;
  llvm::MapVector<mlir::OpResult, llvm::SmallVector<mlir::Value>> versions;
  llvm::MapVector<mlir::OpResult, int64_t>
      oldest; // the oldest one that is read
};

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_LOOPVALUES_H
