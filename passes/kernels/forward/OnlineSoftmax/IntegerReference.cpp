// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// m is the running maximum of the scores and of 0. Non-negative floats are
// ordered like their bits, so integer instructions find the maximum; one of
// them takes three operands. A row whose scores are all far below 0 loses
// weights: step `check` detects that, and the item is computed again without
// the 0.
#include "Reference.h"

using namespace mlir;
using namespace attn;

/// An item with a smaller row sum is rejected. Above this limit, the weights
/// that P's type flushes to zero are at most 2^-106 of the sum, or, if P is
/// f16, those that a running maximum flushes too.
static double smallSum(Type p) { return p.isF16() ? 1.0 : 0x1p-20; }

namespace {

class IntegerReference : public Reference {
public:
  IntegerReference(SoftmaxBuilder &b, LargeScores &large, int64_t threshold)
      : Reference(b, large, threshold),
        limit(smallSum(getElementTypeOrSelf(b.match.values.getType()))) {}

  bool carriesCareful() const override { return false; }

  Stat writeStat(const SoftmaxState &old) override {
    auto results =
        b.step("stat", {b.match.scores, old.m, b.match.work},
               {b.rowType, b.rowType, b.scoreType},
               [&](ValueRange a) { return moveMaximum(a[0], a[1], a[2]); });
    alpha = results[1];
    return {{results[0], old.l, old.o, Value()}, results[2]};
  }

  Value writeSum(Value p, Value l) override { return addSum(p, l, alpha); }
  Value writeRescale(Value o) override { return rescaleWhereChanged(o, alpha); }

  /// A row without keys is rejected as well: its sum looks like that of a row
  /// that lost all of its weights.
  void writeCheck(Value o, const SoftmaxState &last) override {
    Values operands{o, last.l, last.m, b.match.work};
    b.step("check", operands, {}, [&](ValueRange a) -> Values {
      Value sum = b.make<tile::CompleteOp>(b.rowType, a[1]);
      Value small = b.make<arith::CmpFOp>(arith::CmpFPredicate::ULT, sum,
                                          b.constant(limit, b.rowType));
      Value wrong = b.make<arith::OrIOp>(isNotFinite(a[0]), small);
      wrong = b.make<arith::OrIOp>(wrong, large.isTooLarge(a[2]));
      tile::RejectOp::create(b, b.loc, a[3], b.make<tile::AnyOp>(wrong));
      return {};
    });
  }

private:
  /// Without the floor, and with large scores, if the item is computed with
  /// care.
  Values moveMaximum(Value x, Value previous, Value work) {
    Value withCare = b.make<tile::WithCareOp>(work);
    Type types[] = {b.rowType, b.rowType, b.scoreType};
    auto branch =
        scf::IfOp::create(b, b.loc, types, withCare, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value anyScore = b.make<tile::AnyOp>(large.isScore(previous));
    Moved exact = move(x, rowMaximum(x), previous, Value(), anyScore);
    scf::YieldOp::create(b, b.loc, ValueRange{exact.m, exact.alpha, exact.x});
    b.setInsertionPointToStart(branch.elseBlock());
    Value floored = rowMaximum(x, tile::ReduceKind::MaxFloored);
    Moved fast = moveSmall(x, floored, previous, Value());
    scf::YieldOp::create(b, b.loc, ValueRange{fast.m, fast.alpha, fast.x});
    return branch.getResults();
  }

  double limit;
  Value alpha;
};

} // namespace

std::unique_ptr<Reference> attn::makeIntegerReference(SoftmaxBuilder &b,
                                                      LargeScores &large,
                                                      int64_t threshold) {
  return std::make_unique<IntegerReference>(b, large, threshold);
}
