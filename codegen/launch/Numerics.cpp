// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivation of a kernel's numerics contract. Each term is the relative
// error of one rounding or approximation; docs/launch-plan.md has the table.
#include "attn/codegen/launch/Numerics.h"
#include "attn/dialect/Exp2Poly.h"
#include <cmath>

using namespace attn;
using namespace attn::codegen;

/// Half a unit in the last place of 1: of f32, and of what P and O are rounded
/// to.
constexpr double kRoundF32 = 0x1p-24;
static double roundingOf(bool isF16) { return isF16 ? 0x1p-11 : 0x1p-8; }

/// What one instruction of the tensor cores adds, relative to the magnitudes
/// of its products and of the sum before: it aligns 16 products and that sum to
/// the largest of them, cuts each after 25 fraction bits, and rounds their sum
/// toward zero.
constexpr int64_t kProducts = 16;
constexpr double kTensorCore = (kProducts + 1) * 0x1p-25 + 0x1p-23;

/// ex2.approx, relative; lg2.approx, relative to a result of at least 1.
constexpr double kExp2Unit = 0x1p-22;
constexpr double kLog2Unit = 0x1p-22;

/// Additions in f32 round to nearest: errors of n of them add up as sqrt(n),
/// and no more than 6 times that.
constexpr double kDeviations = 6;
/// The lanes that share a row of the scores, and so its sum.
constexpr double kLanesPerRow = 4;

constexpr double kLn2 = 0.6931471805599453;

Precision Precision::of(ws::KernelOp kernel) {
  ConfigAttr config = kernel.getConfig();
  ProblemAttr problem = kernel.getProblem();
  bool hasPolynomials = kernel.getSchedule().getExp2SoftNumerator() > 0;
  return {problem.getDtype().isF16(),
          problem.getHeadDim(),
          config.getTileN(),
          config.getRowMax(),
          config.getRescaleThreshold(),
          hasPolynomials ? config.getExp2Degree() : 0,
          config.getLastWaveParts()};
}

/// How far, in log2 units, the reference of a row may be from its scores of
/// weight, and from the logarithm of its sum. A running maximum is the largest
/// score or below it by the threshold, and a row has fewer than 2^32 keys. A
/// reference from the first block stays until the sum is 2^100, four lanes'
/// share of it each (docs/adr/0010).
static double rangeOf(const Precision &precision) {
  constexpr double keys = 32, lostSum = 100 + 2;
  return precision.rowMax == RowMax::FirstBlock
             ? lostSum
             : keys + double(precision.rescaleThreshold);
}

/// Of an exponential, before it is rounded to P's type: the instruction or the
/// polynomial, and the rounding of its argument.
static double exponentialOf(const Precision &precision) {
  double computed = kExp2Unit;
  if (int64_t degree = precision.polynomialDegree) {
    computed = std::max(
        computed, exp2poly::kRelativeError[degree - exp2poly::kMinDegree]);
  }
  return computed + kLn2 * kRoundF32 * rangeOf(precision);
}

/// A probability below it may become 0, relative to a sum of at least 1, or of
/// 2^-20 with an integer reference.
static double flushOf(const Precision &precision) {
  return precision.isF16                       ? 0x1p-25
         : precision.rowMax == RowMax::Integer ? 0x1p-106
                                               : 0x1p-126;
}

Numerics Numerics::of(const Precision &precision) {
  double exponential = exponentialOf(precision);
  double rounding = roundingOf(precision.isF16);
  double blocksPerKey = 1 / double(precision.tileN);
  // Each part of an item is brought to a common reference.
  double joins = double(precision.lastWaveParts - 1) * 2 * kExp2Unit;

  Numerics numerics;
  // The product, the scale times log2(e) and that times the score.
  int64_t steps = (precision.headDim + kProducts - 1) / kProducts;
  numerics.scoreRelative = double(steps) * kTensorCore + 4 * kRoundF32;
  // P and O are rounded; both P and its sum have the exponentials' errors; 1/l
  // and what is multiplied by it are within 2^-21. Errors of errors are less
  // than a hundredth.
  numerics.oRelative =
      1.01 * (2 * rounding + 2 * exponential + 2 * joins + 0x1p-21);
  // The product P V, a lane's share of the sum, and a rescaling a block at most
  // of O and of the sum.
  numerics.oPerKey = kTensorCore / kProducts + kRoundF32 / kLanesPerRow +
                     2 * kRoundF32 * blocksPerKey;
  numerics.flush = flushOf(precision);
  // ln2 (m + log2 l): the sum, ln2 itself and the product.
  numerics.lseRelative = 4 * kRoundF32;
  numerics.lseAbsolute =
      exponential + kLn2 * kLog2Unit * rangeOf(precision) + joins;
  // The sum, and a factor a block at most.
  numerics.lsePerRootKey =
      kDeviations * (kRoundF32 / std::sqrt(kLanesPerRow) +
                     (kExp2Unit + 2 * kRoundF32) * std::sqrt(blocksPerKey));
  return numerics;
}
