// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// m follows the maximum of the row and is at most the threshold below it, so
// that no exponential exceeds 2^threshold.
#include "Reference.h"

using namespace mlir;
using namespace attn;

namespace {

class RunningReference : public Reference {
public:
  RunningReference(SoftmaxBuilder &b, LargeScores &large, int64_t threshold)
      : Reference(b, large, threshold) {}

  bool carriesCareful() const override { return false; }

  Stat writeStat(const SoftmaxState &old) override {
    auto results = b.step(
        "stat", {b.match.scores, old.m}, {b.rowType, b.rowType, b.scoreType},
        [&](ValueRange a) -> Values {
          Value anyScore = b.make<tile::AnyOp>(large.isScore(a[1]));
          auto [m, factor, x, _] =
              move(a[0], rowMaximum(a[0]), a[1], Value(), anyScore);
          return {m, factor, x};
        });
    alpha = results[1];
    return {{results[0], old.l, old.o, Value()}, results[2]};
  }

  Value writeSum(Value p, Value l) override { return addSum(p, l, alpha); }
  Value writeRescale(Value o) override { return rescaleWhereChanged(o, alpha); }
  void writeCheck(Value, const SoftmaxState &) override {}

private:
  Value alpha;
};

} // namespace

std::unique_ptr<Reference> attn::makeRunningReference(SoftmaxBuilder &b,
                                                      LargeScores &large,
                                                      int64_t threshold) {
  return std::make_unique<RunningReference>(b, large, threshold);
}
