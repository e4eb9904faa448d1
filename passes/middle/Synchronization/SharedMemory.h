// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's shared memory, cut at every begin and end of a slot of a channel
// or a piece of a hold. Overlapping places share cells.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SHAREDMEMORY_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SHAREDMEMORY_H

#include "attn/dialect/Ws.h"

namespace attn {

/// Cells from `begin` up to `end`.
struct CellRange {
  int begin = 0, end = 0;
};

class SharedMemory {
public:
  explicit SharedMemory(ws::KernelOp kernel);

  /// Returns the cells of a slot or piece of the place `name`.
  CellRange cells(llvm::StringRef name, int64_t slot) const;
  int cellCount() const { return bounds.size(); }

private:
  struct Place {
    int64_t offset, slotBytes;
  };
  struct Request {
    llvm::StringRef name;
    std::optional<uint64_t> offset;
    std::optional<llvm::StringRef> over;
    int64_t slotBytes, slots;
  };
  void place(const Request &request);

  llvm::DenseMap<llvm::StringRef, Place> places;
  llvm::SmallVector<int64_t> bounds; // bytes at which cells begin, in order
  int64_t unplanned; // the position for places without an offset
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SHAREDMEMORY_H
