// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// m follows the maximum of the row and lags it by the threshold at most, so
// that no exponential exceeds 2^threshold.
#include "Reference.h"

using namespace mlir;
using namespace attn;

namespace {

class RunningReference : public Reference {
public:
  RunningReference(SoftmaxBuilder &b, int64_t threshold)
      : Reference(b, threshold) {}

  bool carriesCareful() const override { return false; }

  SoftmaxState writeStat(const SoftmaxState &old) override {
    auto results =
        b.step("stat", {b.match.scores, old.m}, {b.rowType, b.rowType},
               [&](ValueRange a) -> SoftmaxBuilder::Values {
                 auto [m, factor] = moveMaximum(a[0], a[1], Value());
                 return {m, factor};
               });
    alpha = results[1];
    return {results[0], old.l, old.o, Value()};
  }

  Value writeSum(Value p, Value l) override {
    return b.step("sum", {p, l, alpha}, b.rowType,
                  [&](ValueRange a) -> SoftmaxBuilder::Values {
                    Value sum = b.make<tile::ReduceOp>(
                        b.rowType, tile::ReduceKind::Add, a[0], 1,
                        /*partial=*/true);
                    return {b.make<math::FmaOp>(a[1], a[2], sum)};
                  })[0];
  }

  Value writeRescale(Value o) override {
    return b.step("rescale", {o, alpha}, b.outType,
                  [&](ValueRange a) -> SoftmaxBuilder::Values {
                    return {rescale(a[0], a[1])};
                  })[0];
  }

  void writeCheck(Value, Value) override {}

private:
  /// With a threshold only where some row of the warp needs it.
  Value rescale(Value o, Value factor) {
    if (threshold == 0) {
      return scaleBy(factor, o);
    }
    Value one = b.constant(1.0, b.rowType);
    Value changed =
        b.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, factor, one);
    return scaleIf(b.make<tile::AnyOp>(changed), o, factor);
  }

  Value alpha;
};

} // namespace

std::unique_ptr<Reference> attn::makeRunningReference(SoftmaxBuilder &b,
                                                      int64_t threshold) {
  return std::make_unique<RunningReference>(b, threshold);
}
