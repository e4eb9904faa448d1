// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first and the last key that a query sees by a built-in mask, and the
// queries that see a key.
#ifndef ATTN_PASSES_KERNELS_TILING_BUILTINKEYS_H
#define ATTN_PASSES_KERNELS_TILING_BUILTINKEYS_H

#include "../TileBuilder.h"
#include "attn/dialect/Masks.h"

namespace attn {

struct BuiltInKeys {
  /// Returns the last key that each query may see; positions are scalars or
  /// tiles.
  mlir::Value lastKey(TileBuilder &b, mlir::Value queries) const;
  /// Returns the first key that each query may see.
  mlir::Value firstKey(TileBuilder &b, mlir::Value queries) const;

  /// Returns the first query that sees each key, which may be negative.
  mlir::Value firstQuery(TileBuilder &b, mlir::Value keys) const;
  /// Returns the last query that sees each key, which may be beyond the last.
  mlir::Value lastQuery(TileBuilder &b, mlir::Value keys) const;

  OpenRange seen;
  bool bottomRight = false;
  mlir::Value seqlenQ, seqlenK;
  llvm::StringMap<mlir::Value> bounds = {}; // of the mask, by name
  OpenRange seeing = {};

private:
  mlir::Value toDiagonal(TileBuilder &b, mlir::Value queries) const;
  mlir::Value fromDiagonal(TileBuilder &b, mlir::Value diagonals) const;
  mlir::Value wordOf(llvm::StringRef word, mlir::Value position) const;
  mlir::Value write(TileBuilder &b, mlir::Attribute expression,
                    mlir::Value position) const;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_BUILTINKEYS_H
