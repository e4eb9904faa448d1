// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// m is the maximum of the first block in which the row has keys, and changes
// only when a sum has become large. A score far above m overflows: step `check`
// detects that, and the item is computed again with a running maximum.
// docs/adr/0010 shows why results that pass the check are correct.
#include "Reference.h"
#include <cmath>

using namespace mlir;
using namespace attn;

/// A larger partial row sum moves the reference: the limit is far below the
/// largest sum, and the largest probability in P's type.
static double largeSum(Type p) { return p.isF16() ? 0x1p10 : 0x1p24; }
/// An item with a larger row sum is rejected: the factor that would scale the
/// sum back to 1, and its inverse, come close to the smallest normal number,
/// 2^-126. With a running maximum no sum is so large: the threshold is at most
/// 64.
constexpr double kLostSum = 0x1p100;

namespace {

class FirstBlockReference : public Reference {
public:
  FirstBlockReference(SoftmaxBuilder &b, LargeScores &large, int64_t threshold)
      : Reference(b, large, threshold),
        limit(largeSum(getElementTypeOrSelf(b.match.values.getType()))) {}

  bool carriesCareful() const override { return true; }
  Stat writeStat(const SoftmaxState &old) override;
  Value writeSum(Value p, Value l) override;
  Value writeRescale(Value o) override;
  void writeCheck(Value o, const SoftmaxState &last) override;

private:
  Values stat(ValueRange operands);
  Values look(Value x, Value m, Value l, Value careful, Value work);
  Value has(Value careful, int64_t bits);
  Value bitIf(Value flag, Careful bit);
  Value isSuspicious(Value l, Value careful);
  Value isWrong(Value o, Value l);

  double limit;
  /// Whether some row of the warp may have a new reference, and its factor.
  Value looked, alpha;
};

} // namespace

/// l is in units of the new reference.
Stat FirstBlockReference::writeStat(const SoftmaxState &old) {
  Type flag = b.getI1Type(), bits = b.getI32Type();
  auto results =
      b.step("stat", {b.match.scores, old.m, old.l, old.careful, b.match.work},
             {b.rowType, b.rowType, b.scoreType, b.rowType, bits, flag},
             [&](ValueRange a) { return stat(a); });
  alpha = results[1];
  looked = results[5];
  return {{results[0], results[3], old.o, results[4]}, results[2]};
}

/// Computes the maximum of the scores only if some row of the warp has no
/// reference yet or a score as its reference, or if a sum has become large.
SmallVector<Value> FirstBlockReference::stat(ValueRange operands) {
  Value x = operands[0], m = operands[1], l = operands[2];
  Value careful = operands[3], work = operands[4];
  Value isLargeSum = b.isGreater(l, b.constant(limit, b.rowType));
  Value any =
      b.make<arith::OrIOp>(has(careful, kNoReferenceYet | kScoreReference),
                           b.make<tile::AnyOp>(isLargeSum));
  Type types[] = {b.rowType, b.rowType, b.scoreType, b.rowType, b.getI32Type()};
  auto branch =
      scf::IfOp::create(b, b.loc, types, any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, b.loc, look(x, m, l, careful, work));
    b.setInsertionPointToStart(branch.elseBlock());
    Value one = b.constant(1.0, b.rowType);
    scf::YieldOp::create(b, b.loc, ValueRange{m, one, x, l, careful});
  }
  Values results(branch.getResults());
  results.push_back(any);
  return results;
}

/// Whether any of the bits is set.
Value FirstBlockReference::has(Value careful, int64_t bits) {
  Value masked =
      b.make<arith::AndIOp>(careful, b.make<arith::ConstantIntOp>(bits, 32));
  return b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, masked,
                               b.make<arith::ConstantIntOp>(0, 32));
}

Value FirstBlockReference::bitIf(Value flag, Careful bit) {
  return b.make<arith::SelectOp>(flag, b.make<arith::ConstantIntOp>(bit, 32),
                                 b.make<arith::ConstantIntOp>(0, 32));
}

/// Moves m to the maximum of the row and log2 of a large sum, which is then 1.
/// An item that is computed with care always does this.
SmallVector<Value> FirstBlockReference::look(Value x, Value m, Value l,
                                             Value careful, Value work) {
  Value sum = b.make<tile::CompleteOp>(b.rowType, l);
  Value exceeds = b.isGreater(sum, b.constant(limit, b.rowType));
  Value ofSum = b.make<arith::AddFOp>(m, b.make<math::Log2Op>(sum));
  Value floor = b.make<arith::SelectOp>(exceeds, ofSum, m);
  auto [next, factor, scores, anyScore] =
      move(x, rowMaximum(x), m, floor, has(careful, kScoreReference));
  Value scaled = b.make<arith::MulFOp>(l, factor);
  Value lost = b.isGreater(sum, b.constant(kLostSum, b.rowType));
  Value infinity =
      b.constant(std::numeric_limits<float>::infinity(), b.rowType);
  Value kept = b.make<arith::SelectOp>(lost, infinity, scaled);
  Value stay = b.make<arith::OrIOp>(b.make<tile::AnyOp>(large.isNone(next)),
                                    b.make<tile::WithCareOp>(work));
  Value wasLarge = b.make<arith::OrIOp>(has(careful, kSumWasLarge),
                                        b.make<tile::AnyOp>(exceeds));
  Value bits = b.make<arith::OrIOp>(bitIf(stay, kNoReferenceYet),
                                    bitIf(wasLarge, kSumWasLarge));
  bits = b.make<arith::OrIOp>(bits, bitIf(anyScore, kScoreReference));
  return {next, factor, scores, kept, bits};
}

Value FirstBlockReference::writeSum(Value p, Value l) {
  return b.step("sum", {p, l}, b.rowType, [&](ValueRange a) -> Values {
    Value sum =
        b.make<tile::ReduceOp>(b.rowType, tile::ReduceKind::Add, a[0], 1,
                               /*partial=*/true);
    return {b.make<arith::AddFOp>(a[1], sum)};
  })[0];
}

Value FirstBlockReference::writeRescale(Value o) {
  return b.step(
      "rescale", {o, alpha, looked}, b.outType,
      [&](ValueRange a) -> Values { return {scaleIf(a[2], a[0], a[1])}; })[0];
}

void FirstBlockReference::writeCheck(Value o, const SoftmaxState &last) {
  Values operands{o, last.l, last.careful, b.match.work};
  b.step("check", operands, {}, [&](ValueRange a) -> Values {
    auto branch =
        scf::IfOp::create(b, b.loc, TypeRange(b.getI1Type()),
                          isSuspicious(a[1], a[2]), /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Value wrong = b.make<tile::AnyOp>(isWrong(a[0], a[1]));
      scf::YieldOp::create(b, b.loc, wrong);
      b.setInsertionPointToStart(branch.elseBlock());
      Value no = b.make<arith::ConstantIntOp>(0, 1);
      scf::YieldOp::create(b, b.loc, no);
    }
    tile::RejectOp::create(b, b.loc, a[3], branch.getResult(0));
    return {};
  });
}

/// Whether O must be checked. That is not necessary if no share of a sum has
/// exceeded 2^threshold: then no probability has exceeded it either, as with a
/// running maximum.
Value FirstBlockReference::isSuspicious(Value l, Value careful) {
  Value admitted = b.constant(std::exp2(threshold), b.rowType);
  Value exceeds = b.make<arith::CmpFOp>(arith::CmpFPredicate::UGT, l, admitted);
  return b.make<arith::OrIOp>(b.make<tile::AnyOp>(exceeds),
                              has(careful, kSumWasLarge));
}

/// Whether exponentials overflowed: the sum is too large or zero, or O is not
/// finite.
Value FirstBlockReference::isWrong(Value o, Value l) {
  Value ofO = isNotFinite(o);
  Value ofL = b.make<arith::CmpFOp>(arith::CmpFPredicate::UGT, l,
                                    b.constant(kLostSum, b.rowType));
  return b.make<arith::OrIOp>(ofO, ofL);
}

std::unique_ptr<Reference> attn::makeFirstBlockReference(SoftmaxBuilder &b,
                                                         LargeScores &large,
                                                         int64_t threshold) {
  return std::make_unique<FirstBlockReference>(b, large, threshold);
}
