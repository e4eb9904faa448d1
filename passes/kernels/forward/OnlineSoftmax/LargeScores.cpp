// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LargeScores.h"

using namespace mlir;
using namespace attn;

/// The fields of an f32.
constexpr int64_t kMantissaBits = 23, kExponentBias = 127;
constexpr int64_t kMagnitudeMask = 0x7fffffff, kInfinity = 0x7f800000;
/// A score is large from 2^24 on, times the power of two in the scale: between
/// there and 2^25 log2 units, neighboring values of m are 2 apart.
constexpr int64_t kLargeExponent = 24;
/// Turns the product of a large score and the power of two in the scale, which
/// is between 2^24 and 2^129, into a reference.
constexpr int64_t kReferenceExponent = -146;
/// Every m is at least this far from 0; every reference that is a score is
/// closer.
constexpr double kLeastLog2 = 0x1p-16;
constexpr double kLn2 = 0.6931471805599453;

static int64_t inExponentField(int64_t exponent) {
  return exponent * (int64_t(1) << kMantissaBits);
}

void LargeScores::writeConstants() {
  Value bits = b.make<arith::BitcastOp>(b.getI32Type(), b.scale);
  Value exponent = b.make<arith::AndIOp>(bits, b.i32(kInfinity));
  Value first = b.i32(inExponentField(kLargeExponent + 2 * kExponentBias));
  Value infinity = b.i32(kInfinity);
  least = b.make<arith::MinUIOp>(b.sub(first, exponent), infinity);
  count = b.sub(infinity, least);
  shift = b.add(exponent,
                b.i32(inExponentField(kReferenceExponent - kExponentBias)));
}

/// Floats without their sign are ordered like their bits.
Value LargeScores::isLargeScore(Value top) {
  Value magnitude = b.make<arith::AndIOp>(bitcast(top, b.getI32Type()),
                                          splat(b.i32(kMagnitudeMask)));
  return b.make<arith::CmpIOp>(arith::CmpIPredicate::ult,
                               b.sub(magnitude, splat(least)), splat(count));
}

Value LargeScores::isTooLarge(Value m) {
  Value limit = b.constant(std::exp2(kLargeExponent), row);
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::OGE,
                               b.make<math::AbsFOp>(m), limit);
}

Value LargeScores::isScore(Value reference) {
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::OLT,
                               b.make<math::AbsFOp>(reference),
                               b.constant(kLeastLog2, row));
}

Value LargeScores::isNone(Value reference) {
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, reference,
                               b.constant(kNoReference, row));
}

Value LargeScores::fromLog2(Value m) {
  return b.make<arith::SelectOp>(isScore(m), b.constant(kLeastLog2, row), m);
}

Value LargeScores::fromScore(Value top) {
  return bitcast(b.add(bitcast(top, b.getI32Type()), splat(shift)),
                 b.getF32Type());
}

Value LargeScores::scoreOf(Value reference) {
  Value bits = b.sub(bitcast(reference, b.getI32Type()), splat(shift));
  return b.make<arith::SelectOp>(
      isScore(reference), bitcast(bits, b.getF32Type()), b.constant(0.0, row));
}

/// A reference that is a score is negligible compared with the score.
Value LargeScores::difference(Value a, Value scoreA, Value other,
                              Value scoreOther) {
  Value scores = b.make<arith::SubFOp>(scoreA, scoreOther);
  return b.make<math::FmaOp>(scores, b.splatScale(row),
                             b.make<arith::SubFOp>(a, other));
}

/// Multiplies by ln2 first: the product of a score and the scale may be too
/// large.
Value LargeScores::logSumExp(Value reference, Value log2Sum) {
  Value ln2 = b.constant(kLn2, row);
  Value score = b.make<arith::MulFOp>(scoreOf(reference), ln2);
  Value rest = b.make<arith::AddFOp>(reference, log2Sum);
  return b.make<math::FmaOp>(score, b.splatScale(row),
                             b.make<arith::MulFOp>(rest, ln2));
}
