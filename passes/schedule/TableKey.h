// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an entry of the schedule table is for, and what a look-up asks for.
#ifndef ATTN_PASSES_SCHEDULE_TABLEKEY_H
#define ATTN_PASSES_SCHEDULE_TABLEKEY_H

#include "attn/dialect/Attn.h"

namespace attn {

/// The key of an entry, or of a look-up, in words.
struct TableKey {
  KernelKind kind;
  int64_t headDim, headDimV;
  TableMasks masks;
  llvm::SmallVector<std::string> dtypes;
  llvm::SmallVector<llvm::StringRef> machines;
  bool exact = false;  // of an entry: only for its own head dims
  bool packed = false; // of an entry: for problems whose heads it packs
  bool hasFunction =
      false;            // of a look-up: a score or mask function, or `row_keys`
  bool plain = false;   // of a look-up: no function, no bounds of a window
  bool dropout = false; // of a look-up: whether weights are dropped

  static TableKey of(ProblemAttr problem, llvm::StringRef target);
  static TableKey of(TableEntryOp entry);

  /// Whether an entry with this key is for the problem and machine `wanted`.
  bool serves(const TableKey &wanted) const {
    return servesProblem(wanted) && isFor(wanted.machines.front());
  }
  bool isFor(llvm::StringRef machine) const {
    return llvm::is_contained(machines, machine);
  }
  bool servesProblem(const TableKey &wanted) const;
  /// Whether entries with these keys may be in one file.
  bool isComparable(const TableKey &other) const;
  /// Returns the columns of the tile for a head dim, as matrix instructions
  /// need them.
  static int64_t columnsFor(int64_t native, int64_t headDim);
  /// How far an entry with this key is from one made only for `wanted`: the
  /// columns that it computes, of Q and V together and then of Q alone, which
  /// three of five products of a backward pass have; and the masks that it
  /// covers.
  struct Cost {
    std::pair<int64_t, int64_t> columns;
    size_t masks;
  };
  Cost cost(const TableKey &wanted) const;

  std::string describeProblem() const;
  std::string describe() const;

private:
  /// Whether an entry for head dim `native` (-1: any) serves `wanted`. If a
  /// tile is wider than the head dim, its last columns are zero.
  bool servesHeadDim(int64_t native, int64_t wanted) const {
    return native == -1 || (exact ? native == wanted : native >= wanted);
  }
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_TABLEKEY_H
