// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the steps of a kernel's softmax, and the common parts of their bodies.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_BUILDER_H
#define ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_BUILDER_H

#include "../../TileBuilder.h"
#include "SoftmaxMatch.h"

namespace attn {

class SoftmaxBuilder : public TileBuilder {
public:
  explicit SoftmaxBuilder(SoftmaxMatch match)
      : TileBuilder(match.attend.getLoc()), match(match) {
    auto scores = mlir::cast<mlir::RankedTensorType>(match.scores.getType());
    scoreType = mlir::RankedTensorType::get(scores.getShape(), getF32Type());
    rowType = mlir::RankedTensorType::get(scores.getDimSize(0), getF32Type());
    outType = mlir::cast<mlir::RankedTensorType>(match.state.getType());
  }

  mlir::Value constant(double value, mlir::RankedTensorType type);
  /// Returns the factor that converts scores to log2 units, as a tile.
  mlir::Value splatScale(mlir::RankedTensorType type) {
    return make<mlir::tensor::SplatOp>(scale, type);
  }
  /// Broadcasts a value per row to every element of the row.
  mlir::Value along(mlir::Value row, mlir::RankedTensorType type) {
    return make<tile::BroadcastOp>(type, row, 1);
  }
  mlir::Value isGreater(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OGT, a, b);
  }

  SoftmaxMatch match;
  mlir::RankedTensorType scoreType, rowType, outType;
  mlir::Value scale; // exponents are score * scale, in log2 units
};

/// The initial reference of a row: below every score.
constexpr float kNoReference = -std::numeric_limits<float>::max();

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_BUILDER_H
