// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each choice of a kernel adds to the bounds of its results.
#include "attn/codegen/launch/Numerics.h"
#include "attn/dialect/Exp2Poly.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::codegen;

namespace {

Precision usual() {
  Precision precision;
  precision.rowMax = RowMax::FirstBlock;
  precision.rescaleThreshold = 8;
  return precision;
}

Numerics boundsOf(Precision precision) { return Numerics::of(precision); }

TEST(Numerics, areDominatedByTheRoundingsOfPAndO) {
  Numerics bounds = boundsOf(usual());
  EXPECT_GT(bounds[Numerics::ORelative], 2 * std::exp2(-8));
  EXPECT_LT(bounds[Numerics::ORelative], 2.04 * std::exp2(-8));
  Precision f16 = usual();
  f16.isF16 = true;
  EXPECT_GT(boundsOf(f16)[Numerics::ORelative], 2 * std::exp2(-11));
  EXPECT_LT(boundsOf(f16)[Numerics::ORelative], 2.1 * std::exp2(-11));
  // Half of the least denormal number of f16; bf16 reaches as far as f32.
  EXPECT_EQ(boundsOf(f16)[Numerics::Flush], std::exp2(-25));
  EXPECT_EQ(bounds[Numerics::Flush], std::exp2(-126));
}

TEST(Numerics, polynomialsAddTheirErrorAlone) {
  Numerics without = boundsOf(usual());
  for (int degree : {3, 4, 5}) {
    Precision precision = usual();
    precision.polynomialDegree = degree;
    Numerics with = boundsOf(precision);
    // The unit's own share of exponentials remains.
    double added = exp2poly::kRelativeError[degree - exp2poly::kMinDegree] -
                   std::exp2(-22);
    EXPECT_NEAR(with[Numerics::LseAbsolute] - without[Numerics::LseAbsolute],
                added, 1e-12);
    EXPECT_NEAR(with[Numerics::ORelative] - without[Numerics::ORelative],
                1.01 * 2 * added, 1e-12);
    EXPECT_EQ(with[Numerics::ScoreRelative], without[Numerics::ScoreRelative]);
    EXPECT_EQ(with[Numerics::LsePerRootKey], without[Numerics::LsePerRootKey]);
  }
}

TEST(Numerics, referencesFarFromTheScoresRoundMore) {
  Precision running = usual();
  running.rowMax = RowMax::Running;
  EXPECT_LT(boundsOf(running)[Numerics::LseAbsolute],
            boundsOf(usual())[Numerics::LseAbsolute] / 2);
  Precision eager = running;
  eager.rescaleThreshold = 0;
  EXPECT_LT(boundsOf(eager)[Numerics::LseAbsolute],
            boundsOf(running)[Numerics::LseAbsolute]);
  Precision integer = running;
  integer.rowMax = RowMax::Integer;
  EXPECT_EQ(boundsOf(integer)[Numerics::LseAbsolute],
            boundsOf(running)[Numerics::LseAbsolute]);
  EXPECT_GT(boundsOf(integer)[Numerics::Flush],
            boundsOf(running)[Numerics::Flush]);
}

TEST(Numerics, followTheProductsBlocksAndParts) {
  Precision wide = usual();
  wide.headDim = 256;
  // One more product of the tensor cores for each 16 columns.
  double perStep = 17 * std::exp2(-25) + std::exp2(-23);
  EXPECT_NEAR(boundsOf(wide)[Numerics::ScoreRelative] -
                  boundsOf(usual())[Numerics::ScoreRelative],
              8 * perStep, 1e-15);
  wide.headDim = 8;
  EXPECT_NEAR(boundsOf(wide)[Numerics::ScoreRelative], perStep + std::exp2(-22),
              1e-15);
  Precision small = usual();
  small.tileN = 16;
  EXPECT_GT(boundsOf(small)[Numerics::LsePerRootKey],
            boundsOf(usual())[Numerics::LsePerRootKey]);
  EXPECT_GT(boundsOf(small)[Numerics::OPerKey],
            boundsOf(usual())[Numerics::OPerKey]);
  Precision cut = usual();
  cut.lastWaveParts = 3;
  EXPECT_NEAR(boundsOf(cut)[Numerics::LseAbsolute] -
                  boundsOf(usual())[Numerics::LseAbsolute],
              std::exp2(-20), 1e-12);
}

TEST(GradientNumerics, allowARoundedPForDxAlone) {
  Precision precision = usual();
  GradientNumerics exact = GradientNumerics::of(precision);
  EXPECT_EQ(exact[GradientNumerics::KeptRelative], 0);
  EXPECT_EQ(exact[GradientNumerics::KeptLeast], 0);
  precision.keptP = KeptP::F16;
  GradientNumerics kept = GradientNumerics::of(precision);
  EXPECT_EQ(kept[GradientNumerics::KeptRelative], std::exp2(-11));
  EXPECT_EQ(kept[GradientNumerics::KeptLeast], std::exp2(-39));
  EXPECT_EQ(kept[GradientNumerics::Flush], exact[GradientNumerics::Flush]);
}

TEST(GradientNumerics, followTypesAndSizes) {
  GradientNumerics bounds = GradientNumerics::of(usual());
  EXPECT_EQ(bounds[GradientNumerics::Rounding], std::exp2(-8));
  EXPECT_EQ(bounds[GradientNumerics::Least], std::exp2(-126));
  EXPECT_EQ(bounds[GradientNumerics::ScoreRelative],
            boundsOf(usual())[Numerics::ScoreRelative]);
  EXPECT_EQ(bounds[GradientNumerics::Exponential], std::exp2(-22));
  Precision f16 = usual();
  f16.isF16 = true;
  EXPECT_EQ(GradientNumerics::of(f16)[GradientNumerics::Rounding],
            std::exp2(-11));
  EXPECT_EQ(GradientNumerics::of(f16)[GradientNumerics::Least], std::exp2(-25));
  Precision wide = usual();
  wide.headDimV = 256;
  GradientNumerics of = GradientNumerics::of(wide);
  EXPECT_EQ(of[GradientNumerics::DpRelative],
            2 * bounds[GradientNumerics::DpRelative]);
  EXPECT_EQ(of[GradientNumerics::DeltaRelative], 257 * std::exp2(-24));
  EXPECT_EQ(of[GradientNumerics::ScoreRelative],
            bounds[GradientNumerics::ScoreRelative]);
  Precision small = usual();
  small.tileM = 16;
  EXPECT_NEAR(GradientNumerics::of(small)[GradientNumerics::PerProduct] -
                  bounds[GradientNumerics::PerProduct],
              (1. / 16 - 1. / 128) * std::exp2(-24), 1e-20);
}

TEST(GradientNumerics, polynomialsAddTheirError) {
  Precision precision = usual();
  precision.polynomialDegree = 3;
  EXPECT_EQ(GradientNumerics::of(precision)[GradientNumerics::Exponential],
            exp2poly::kRelativeError[3 - exp2poly::kMinDegree]);
}

TEST(GradientNumerics, allowWhatEachKernelOfACallNeeds) {
  Precision small = usual(), wide = usual();
  small.tileN = 16;
  wide.headDim = wide.headDimV = 256;
  GradientNumerics all = GradientNumerics::of(small);
  all.allow(GradientNumerics::of(wide));
  EXPECT_EQ(all[GradientNumerics::PerProduct],
            GradientNumerics::of(small)[GradientNumerics::PerProduct]);
  EXPECT_EQ(all[GradientNumerics::DpRelative],
            GradientNumerics::of(wide)[GradientNumerics::DpRelative]);
  EXPECT_EQ(all[GradientNumerics::ScoreRelative],
            GradientNumerics::of(wide)[GradientNumerics::ScoreRelative]);
}

} // namespace
