// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives the contract of a kernel of a backward pass. docs/launch-plan.md has
// the table.
#include "Roundings.h"
#include "attn/dialect/KeptP.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

GradientNumerics GradientNumerics::of(const Precision &precision) {
  int64_t block = std::min(precision.tileM, precision.tileN);
  GradientNumerics numerics{};
  numerics[ScoreRelative] = roundings::scoreOf(precision);
  bool keepsP = precision.keptP != KeptP::F32;
  // The exponents of a P that is kept are below 2^4, and rounded twice.
  numerics[Exponential] = roundings::exp2Of(precision) + (keepsP ? 0x1p-20 : 0);
  // The LSE in f32; log2(e) and its products with the score and the LSE; their
  // difference.
  numerics[ExponentRelative] = 6 * kRoundF32;
  numerics[Flush] = 0x1p-126;
  numerics[DpRelative] = roundings::productOf(precision.headDimV);
  // Each product of O and dO, and each addition of one.
  numerics[DeltaRelative] = double(precision.headDimV + 1) * kRoundF32;
  // log2(e), and its product with the LSE.
  numerics[Lse2Relative] = 3 * kRoundF32;
  // The factor of dropout and its product, the difference of dP and delta, its
  // product with P, the derivative of the user's function and its product, and
  // the scale.
  numerics[Operations] = 8 * kRoundF32;
  // A sixteenth of an instruction, and one addition to a sum in memory for each
  // block.
  numerics[PerProduct] = kTensorCore / kProducts + kRoundF32 / double(block);
  numerics[PerAddition] = kRoundF32;
  numerics[Rounding] = roundings::ofElement(precision.isF16);
  numerics[Least] = precision.isF16 ? 0x1p-25 : 0x1p-126;
  numerics[KeptRelative] = keepsP ? 0x1p-11 : 0;
  numerics[KeptLeast] = keepsP ? keptError() : 0;
  return numerics;
}

void GradientNumerics::allow(const GradientNumerics &other) {
  for (auto [bound, needed] : llvm::zip_equal(*this, other)) {
    bound = std::max(bound, needed);
  }
}

launch::GradientNumericsAttr
GradientNumerics::toAttr(MLIRContext *context) const {
  return launch::GradientNumericsAttr::get(context,
                                           roundings::toAttrs(context, *this));
}
