// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of a kernel of gradients that do not depend on the side that
// its work items own: its arguments, and the steps from the scores to their
// derivatives.
#ifndef ATTN_PASSES_KERNELS_BACKWARD_BACKWARDWRITER_H
#define ATTN_PASSES_KERNELS_BACKWARD_BACKWARDWRITER_H

#include "../Tiling/Dropout.h"

namespace attn {

struct BackwardArguments {
  mlir::Value q, k, v, outGradient, lse2, delta, scale;
  llvm::SmallVector<mlir::Value> bounds, captures;
  mlir::Value dq, dk, dv; // null if the kernel does not make them
  /// The result of a kernel of derivatives by a capture, or null.
  mlir::Value ofCapture;
  mlir::Value sums;   // to which the kernel adds; null if it makes dQ or none
  mlir::Value turns;  // of items that add to the sums; null for any order
  mlir::Value seeing; // the queries that may see groups of keys, or null
  Dropout dropout;

  /// Whether P is multiplied by the derivative of the user's function at once:
  /// a kernel with sums of dQ has no registers to keep it. With dropout the
  /// sign of P says which pairs are dropped, which a product would lose.
  bool scalesProbabilities() const { return sums && !dropout; }
};

class BackwardWriter {
public:
  using Values = TileBuilder::Values;

  BackwardWriter(AttentionBwdOp op, Side owned);

  /// Creates the kernel with its arguments and the sizes that it computes with;
  /// `b` writes its body afterwards.
  tile::KernelOp createKernel(llvm::StringRef name, ArgumentNames names);

  /// Writes the step that makes a work item: a block of the owned side.
  mlir::Value writeNext();
  /// Writes a step that loads a block of rows of Q, K, V or dO.
  mlir::Value loadTile(llvm::StringRef step, mlir::Value source, Side side,
                       mlir::Value work);
  /// Writes a step that loads the statistics of a block of queries.
  mlir::Value loadRows(llvm::StringRef step, mlir::Value source,
                       mlir::Value work);
  /// Writes the product of rows of the owned side and rows of the streamed
  /// side.
  mlir::Value multiply(llvm::StringRef step, mlir::Value ownedRows,
                       mlir::Value streamedRows);
  /// Writes a step that adds the product of `scores` and `streamedRows`.
  mlir::Value addProduct(llvm::StringRef step, mlir::Value scores,
                         mlir::Value streamedRows, mlir::Value sum);
  /// Writes the probabilities of scores, with the sign bit set where dropout
  /// drops the pair; sets `slope` to the derivative of the user's function, or
  /// to null. If the kernel scales probabilities, `slope` is P times the
  /// derivative, or null if that is P.
  mlir::Value writeProbabilities(mlir::Value scores, mlir::Value lse2,
                                 mlir::Value work, mlir::Value &slope);
  /// Writes dX, the derivatives by the products of Q and K, without the scale.
  mlir::Value writeDerivatives(mlir::Value probabilities, mlir::Value products,
                               mlir::Value delta, mlir::Value slope);
  /// Writes the step that rounds the probabilities of pairs that are kept to
  /// the element type; the others are 0.
  mlir::Value writeKept(llvm::StringRef step, mlir::Value probabilities);
  /// Writes the step that rounds a tile to the element type.
  mlir::Value writeRounded(llvm::StringRef step, mlir::Value tile);
  /// Writes the steps that add the products of derivatives and keys to the sums
  /// of dQ. The rows of the derivatives are keys.
  void addToSums(mlir::Value derivatives, mlir::Value keys, mlir::Value work);
  /// Writes the steps that round a sum, a gradient of Q, K or V, and store it.
  void storeSum(llvm::StringRef step, llvm::StringRef store, mlir::Value sum,
                mlir::Value dest, mlir::Value work);
  /// Returns a sum of 0 with rows of the owned side, for a gradient of `of`.
  mlir::Value zeroSum(mlir::Value of);

  /// Returns the coordinates of a work item; of pairs, those of this iteration.
  Place itemOf(mlir::Value work);
  /// Returns these coordinates, with the query head instead of the head of K.
  Place placeOf(mlir::Value work);

  TileBuilder b;
  AttentionBwdOp op;
  BackwardArguments args;
  ScoreMatrix matrix;
  mlir::RankedTensorType scores;
  mlir::Value batches, heads;
  /// Of a kernel of pairs: whether iterations go over all batches, or heads.
  bool sumsBatches = false, sumsHeads = false;
  /// Whether P is kept for dX in f16, and computed times a power of two.
  const bool keepsRoundedP;

private:
  void writeSizes();
  /// Returns the head of a tensor with the heads of `side`.
  mlir::Value headOf(Side side, const Place &at);
  mlir::Value writeScore(mlir::Value scores, mlir::Value work,
                         mlir::Value &slope);
  mlir::Value writeMask(mlir::Value scores, mlir::Value work);

  ConfigAttr config;
  Side owned;
  mlir::Type elementType;
  mlir::AffineMap layout; // from (batch, head, position, dim) to dimensions
  mlir::Value keyHeads, group;
  mlir::Value exponentScale; // of the scores that enter exp2
};

/// Whether the derivative of the user's function is 1, as that of an additive
/// bias is.
bool hasSlopeOne(AttentionBwdOp op);

/// Each writes kernel `name` before the function of `op`, which has a config.
/// The kernel of dQ owns queries. That of dK, dV or both owns keys, and if the
/// op has sums, it also adds its shares of dQ to them. The last two are of
/// derivatives by a capture: one sums them over the rows of one side, the other
/// computes those of pairs. writeSeeingKernel() writes that of `seeing`.
tile::KernelOp writeQueryGradientKernel(AttentionBwdOp op, llvm::StringRef name,
                                        ArgumentNames names);
tile::KernelOp writeKeyGradientKernel(AttentionBwdOp op, llvm::StringRef name,
                                      ArgumentNames names);
tile::KernelOp writeCaptureSumKernel(AttentionBwdOp op, llvm::StringRef name,
                                     ArgumentNames names);
tile::KernelOp writePairKernel(AttentionBwdOp op, llvm::StringRef name,
                               ArgumentNames names);
tile::KernelOp writeSeeingKernel(AttentionBwdOp op, llvm::StringRef name,
                                 ArgumentNames names);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_BACKWARD_BACKWARDWRITER_H
