// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimension of a tile each vector of a tile program lacks: it follows
// from the reductions that make vectors and the broadcasts that read them, and
// is the same for all vectors that are computed with one another.
#ifndef ATTN_PASSES_MIDDLE_VECTORDIMS_H
#define ATTN_PASSES_MIDDLE_VECTORDIMS_H

#include "attn/dialect/Tile.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace attn {

class VectorDims {
public:
  explicit VectorDims(tile::KernelOp kernel);

  /// No vector is asked to lack both dimensions; otherwise an error.
  mlir::LogicalResult check() const;

  /// The dimension that a vector's tile has and the vector lacks: columns,
  /// unless something says otherwise.
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
  llvm::DenseMap<void *, Anchor> anchorOf; // by the leader of a class
  std::optional<std::pair<Anchor, Anchor>> conflict;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_VECTORDIMS_H
