// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inlines a scalar score or mask region on tiles.
#ifndef ATTN_PASSES_LIB_SCORELIFTER_H
#define ATTN_PASSES_LIB_SCORELIFTER_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Erases the ops of a block that are not used.
void eraseDead(mlir::Block &block);

/// Each value of the region becomes a tile if it depends on a tile, and
/// otherwise stays a scalar. Index values become i32, since tensor.extract
/// becomes tile.gather, which takes i32. f16 and bf16 become f32, which
/// represents them exactly. Results that `arith` or a flag of an op leaves
/// undefined become those that attn.attention specifies.
class ScoreLifter {
public:
  ScoreLifter(mlir::OpBuilder &builder, llvm::ArrayRef<int64_t> shape)
      : builder(builder), shape(shape) {}

  /// Returns what `region` yields for `arguments`: tiles, scalars and whole
  /// tensors, or null for arguments that the region does not use. The results
  /// are tiles; without a shape they are scalars, and so are the arguments.
  llvm::SmallVector<mlir::Value> lift(mlir::Region &region,
                                      mlir::ValueRange arguments);

private:
  void liftOp(mlir::Operation &op);
  mlir::Value liftPure(mlir::Operation &op, mlir::ValueRange operands,
                       mlir::Type type);
  mlir::Value cloneAs(mlir::Operation &op, mlir::ValueRange operands,
                      mlir::Type type);
  mlir::Value castIndex(mlir::Location loc, mlir::Value value, mlir::Type type);
  mlir::Value shift(mlir::Operation &op, mlir::ValueRange operands,
                    mlir::Type type);
  mlir::Value divide(mlir::Operation &op, mlir::ValueRange operands,
                     mlir::Type type);
  void liftExtract(mlir::tensor::ExtractOp op);
  bool isTile(mlir::Value value) const;
  mlir::Value scalar(mlir::Value value);
  mlir::Value tile(mlir::Value value);
  mlir::Type lifted(mlir::Type type, bool toTile) const;

  mlir::OpBuilder &builder;
  llvm::SmallVector<int64_t> shape;
  llvm::DenseSet<mlir::Value> tiles; // values of the region that are tiles
  llvm::DenseMap<mlir::Value, mlir::Value> mapped, splats;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SCORELIFTER_H
