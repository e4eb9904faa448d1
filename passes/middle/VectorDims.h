// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dimension of a tile that each vector of a tile program lacks. It follows
// from the reductions that compute vectors and the broadcasts that read them,
// and is the same for all vectors that are operands of one op.
#ifndef ATTN_PASSES_MIDDLE_VECTORDIMS_H
#define ATTN_PASSES_MIDDLE_VECTORDIMS_H

#include "attn/dialect/Tile.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace attn {

class VectorDims {
public:
  explicit VectorDims(tile::KernelOp kernel);

  /// Checks that no vector must lack both dimensions.
  mlir::LogicalResult check() const;

  /// Returns the dimension that a vector lacks: columns, unless an op requires
  /// otherwise.
  int64_t of(mlir::Value vector) const;

private:
  void visit(mlir::Operation *op);
  void join(mlir::ValueRange a, mlir::ValueRange b);
  void join(mlir::Value a, mlir::Value b);

  /// A reduction or broadcast, and the dimension that it drops or adds.
  struct Anchor {
    mlir::Operation *op;
    mlir::Value vector;
    int64_t dim;
  };

  llvm::EquivalenceClasses<void *> alike;
  llvm::SmallVector<Anchor> anchors;
  llvm::DenseMap<void *, Anchor> anchorOf; // by the representative of a class
  std::optional<std::pair<Anchor, Anchor>> conflict;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_VECTORDIMS_H
