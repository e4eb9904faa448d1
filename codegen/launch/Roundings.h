// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The relative errors of single roundings and instructions, of which the
// contracts of kernels consist.
#ifndef ATTN_CODEGEN_LAUNCH_ROUNDINGS_H
#define ATTN_CODEGEN_LAUNCH_ROUNDINGS_H

#include "attn/codegen/launch/Numerics.h"
#include "attn/dialect/Exp2Poly.h"

namespace attn::codegen {

/// Half a unit in the last place of 1 in f32.
constexpr double kRoundF32 = 0x1p-24;

/// The error of one instruction of the tensor cores, relative to the magnitudes
/// of its products and of the previous sum: it aligns 16 products and that sum
/// to the largest of them, truncates each after 25 fraction bits, and rounds
/// their sum toward zero.
constexpr int64_t kProducts = 16;
constexpr double kTensorCore = (kProducts + 1) * 0x1p-25 + 0x1p-23;

/// ex2.approx.
constexpr double kExp2Unit = 0x1p-22;

namespace roundings {

/// Half a unit in the last place of 1 in the type of the elements.
inline double ofElement(bool isF16) { return isF16 ? 0x1p-11 : 0x1p-8; }

/// The error of a product of rows with so many columns.
inline double productOf(int64_t columns) {
  int64_t products = (columns + kProducts - 1) / kProducts;
  return double(products) * kTensorCore;
}

/// The error of a score: the product, the scale times log2(e), and their
/// product.
inline double scoreOf(const Precision &precision) {
  return productOf(precision.headDim) + 4 * kRoundF32;
}

/// The error of an exponential: that of the instruction, or of the polynomial
/// that computes a share of them.
inline double exp2Of(const Precision &precision) {
  int64_t degree = precision.polynomialDegree;
  return degree == 0
             ? kExp2Unit
             : std::max(
                   kExp2Unit,
                   exp2poly::kRelativeError[degree - exp2poly::kMinDegree]);
}

inline llvm::SmallVector<mlir::FloatAttr>
toAttrs(mlir::MLIRContext *context, llvm::ArrayRef<double> bounds) {
  return llvm::map_to_vector(bounds, [&](double bound) {
    return mlir::FloatAttr::get(mlir::Float64Type::get(context), bound);
  });
}

} // namespace roundings
} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_ROUNDINGS_H
