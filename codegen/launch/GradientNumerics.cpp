// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives the contract of a kernel of a backward pass. docs/launch-plan.md has
// the table.
#include "Roundings.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr double GradientNumerics::*kMembers[] = {
    &GradientNumerics::scoreRelative,    &GradientNumerics::exponential,
    &GradientNumerics::exponentRelative, &GradientNumerics::flush,
    &GradientNumerics::dpRelative,       &GradientNumerics::deltaRelative,
    &GradientNumerics::lse2Relative,     &GradientNumerics::operations,
    &GradientNumerics::perProduct,       &GradientNumerics::perAddition,
    &GradientNumerics::rounding,         &GradientNumerics::least};

GradientNumerics GradientNumerics::of(const Precision &precision) {
  int64_t block = std::min(precision.tileM, precision.tileN);
  GradientNumerics numerics;
  numerics.scoreRelative = roundings::scoreOf(precision);
  numerics.exponential = roundings::exp2Of(precision);
  // The LSE in f32; log2(e) and its products with the score and the LSE; their
  // difference.
  numerics.exponentRelative = 6 * kRoundF32;
  numerics.flush = 0x1p-126;
  numerics.dpRelative = roundings::productOf(precision.headDimV);
  // Each product of O and dO, and each addition of one.
  numerics.deltaRelative = double(precision.headDimV + 1) * kRoundF32;
  // log2(e), and its product with the LSE.
  numerics.lse2Relative = 3 * kRoundF32;
  // The factor of dropout and its product, the difference of dP and delta, its
  // product with P, the derivative of the user's function and its product, and
  // the scale.
  numerics.operations = 8 * kRoundF32;
  // A sixteenth of an instruction, and one addition to a sum in memory for each
  // block.
  numerics.perProduct = kTensorCore / kProducts + kRoundF32 / double(block);
  numerics.perAddition = kRoundF32;
  numerics.rounding = roundings::ofElement(precision.isF16);
  numerics.least = precision.isF16 ? 0x1p-25 : 0x1p-126;
  return numerics;
}

void GradientNumerics::allow(const GradientNumerics &other) {
  for (double GradientNumerics::*member : kMembers) {
    this->*member = std::max(this->*member, other.*member);
  }
}

launch::GradientNumericsAttr
GradientNumerics::toAttr(MLIRContext *context) const {
  auto number = [&](double bound) {
    return FloatAttr::get(Float64Type::get(context), bound);
  };
  return launch::GradientNumericsAttr::get(
      context, number(scoreRelative), number(exponential),
      number(exponentRelative), number(flush), number(dpRelative),
      number(deltaRelative), number(lse2Relative), number(operations),
      number(perProduct), number(perAddition), number(rounding), number(least));
}
