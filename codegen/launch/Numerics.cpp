// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives a kernel's numerics contract. Each term is the relative error of one
// rounding or approximation; docs/launch-plan.md has the table.
#include "attn/codegen/launch/Numerics.h"
#include "Roundings.h"
#include <cmath>

using namespace attn;
using namespace attn::codegen;

/// lg2.approx, relative to a result of at least 1.
constexpr double kLog2Unit = 0x1p-22;

/// Additions in f32 round to nearest: the errors of n of them grow like
/// sqrt(n), and are at most 6 times that.
constexpr double kDeviations = 6;
/// The lanes that share a row of the scores, and so its sum.
constexpr double kLanesPerRow = 4;

constexpr double kLn2 = 0.6931471805599453;

Precision Precision::of(ws::KernelOp kernel) {
  ConfigAttr config = kernel.getConfig();
  ProblemAttr problem = kernel.getProblem();
  bool hasPolynomials = kernel.getSchedule().getExp2Soft().number > 0;
  return {problem.getDtype().isF16(),
          problem.getHeadDim(),
          problem.getHeadDimV(),
          config.getTileM(),
          config.getTileN(),
          config.getRowMax(),
          config.getRescaleThreshold(),
          hasPolynomials ? config.getExp2Degree() : 0,
          config.getLastWaveParts(),
          config.getKeptP()};
}

/// Returns the largest distance, in log2 units, of the reference of a row from
/// those of its scores that have weight, and from the logarithm of its sum. A
/// running maximum is the largest score or below it by at most the threshold,
/// and a row has fewer than 2^32 keys. A reference from the first block stays
/// until the sum is 2^100, of which four lanes have a share each
/// (docs/adr/0010).
static double rangeOf(const Precision &precision) {
  constexpr double keys = 32, lostSum = 100 + 2;
  return precision.rowMax == RowMax::FirstBlock
             ? lostSum
             : keys + double(precision.rescaleThreshold);
}

/// Returns the error of an exponential before it is rounded to P's type: its
/// own, and that of the rounding of its argument.
static double exponentialOf(const Precision &precision) {
  return roundings::exp2Of(precision) + kLn2 * kRoundF32 * rangeOf(precision);
}

/// Returns the probability below which P may become 0, relative to a sum of at
/// least 1, or of 2^-20 with an integer reference.
static double flushOf(const Precision &precision) {
  return precision.isF16                       ? 0x1p-25
         : precision.rowMax == RowMax::Integer ? 0x1p-106
                                               : 0x1p-126;
}

Numerics Numerics::of(const Precision &precision) {
  double exponential = exponentialOf(precision);
  double rounding = roundings::ofElement(precision.isF16);
  double blocksPerKey = 1 / double(precision.tileN);
  // Each part of an item is scaled to a common reference.
  double joins = double(precision.lastWaveParts - 1) * 2 * kExp2Unit;

  Numerics numerics{};
  // The product, the scale times log2(e), and their product.
  numerics[ScoreRelative] = roundings::scoreOf(precision);
  // P and O are rounded; P and its sum both have the exponentials' errors; 1/l
  // and its product are within 2^-21. Products of errors add less than one
  // percent.
  numerics[ORelative] =
      1.01 * (2 * rounding + 2 * exponential + 2 * joins + 0x1p-21);
  // The product P V, a lane's share of the sum, and at most one rescaling of O
  // and of the sum in each block.
  numerics[OPerKey] = kTensorCore / kProducts + kRoundF32 / kLanesPerRow +
                      2 * kRoundF32 * blocksPerKey;
  numerics[Flush] = flushOf(precision);
  // ln2 (m + log2 l): the sum, ln2 itself and the product.
  numerics[LseRelative] = 4 * kRoundF32;
  numerics[LseAbsolute] =
      exponential + kLn2 * kLog2Unit * rangeOf(precision) + joins;
  // The sum, and at most one factor in each block.
  numerics[LsePerRootKey] =
      kDeviations * (kRoundF32 / std::sqrt(kLanesPerRow) +
                     (kExp2Unit + 2 * kRoundF32) * std::sqrt(blocksPerKey));
  return numerics;
}

launch::NumericsAttr Numerics::toAttr(mlir::MLIRContext *context) const {
  return launch::NumericsAttr::get(context, roundings::toAttrs(context, *this));
}
