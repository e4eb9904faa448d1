// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a mask function requires to be equal, as documents do.
#ifndef ATTN_PASSES_KERNELS_TILING_KEYEQUALITY_H
#define ATTN_PASSES_KERNELS_TILING_KEYEQUALITY_H

#include "mlir/IR/Region.h"

namespace attn {

/// A number of a query that a mask region requires to be equal to one of a key.
struct KeyEquality {
  mlir::Value ofQuery, ofKey;
  /// Whether the region requires nothing else.
  bool isAll = false;

  /// Returns an equality among the factors of a mask region, if there is one.
  static KeyEquality find(mlir::Region &mask);
  explicit operator bool() const { return bool(ofQuery); }
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_KEYEQUALITY_H
