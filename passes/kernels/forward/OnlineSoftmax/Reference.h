// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference m of a row's exponentials exp2(x - m), and the consequences of
// moving it. The config option `row_max` selects one of several methods.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_REFERENCE_H
#define ATTN_PASSES_ONLINE_SOFTMAX_REFERENCE_H

#include "LargeScores.h"

namespace attn {

/// The carried values of the loop. Only a reference from the first block has
/// `careful`, an i32 of `Careful`'s bits that is uniform in a warp.
struct SoftmaxState {
  mlir::Value m, l, o, careful;
};

/// The results of step `stat` for a state and scores.
struct Stat {
  SoftmaxState state;
  mlir::Value scores; // the scores that the reference applies to
};

enum Careful : int64_t {
  kNoReferenceYet = 1, // of some row
  kSumWasLarge = 2,    // of some row, which has just got a new reference
  kScoreReference = 4, // of some row
};

class Reference {
public:
  virtual ~Reference() = default;

  /// Whether the loop carries `careful`, which starts as kNoReferenceYet.
  virtual bool carriesCareful() const = 0;
  /// Step `stat`: returns the state with the reference for these scores.
  virtual Stat writeStat(const SoftmaxState &old) = 0;
  /// Step `sum`: adds the row sums of `p` to l.
  virtual mlir::Value writeSum(mlir::Value p, mlir::Value l) = 0;
  /// Step `rescale`: O in units of the new reference.
  virtual mlir::Value writeRescale(mlir::Value o) = 0;
  /// After the last block: checks O before it is multiplied by 1/l.
  virtual void writeCheck(mlir::Value o, const SoftmaxState &last) = 0;

protected:
  using Values = SoftmaxBuilder::Values;

  /// A reference, alpha = exp2(old reference - reference), the scores relative
  /// to it, and whether some row of the warp has a score as its reference.
  struct Moved {
    mlir::Value m, alpha, x, anyScore;
  };

  Reference(SoftmaxBuilder &b, LargeScores &large, int64_t threshold)
      : b(b), large(large), threshold(threshold) {}

  /// Returns the maximum of each row of the scores `x`.
  mlir::Value rowMaximum(mlir::Value x,
                         tile::ReduceKind kind = tile::ReduceKind::Max);
  /// Moves the reference to `top`, the maximum of the scores `x`, or to `floor`
  /// unless that is null, if it exceeds the old reference by more than the
  /// threshold. `anyScore` is that of the old reference.
  Moved move(mlir::Value x, mlir::Value top, mlir::Value previous,
             mlir::Value floor, mlir::Value anyScore);
  /// Like move(), if neither `top` nor the reference is a large score.
  Moved moveSmall(mlir::Value x, mlir::Value top, mlir::Value previous,
                  mlir::Value floor);
  /// Step `sum`: returns l * alpha plus the row sums of `p`.
  mlir::Value addSum(mlir::Value p, mlir::Value l, mlir::Value alpha);
  /// Step `rescale`: returns o * alpha; with a threshold, multiplies only if
  /// some row of the warp needs it.
  mlir::Value rescaleWhereChanged(mlir::Value o, mlir::Value alpha);
  /// Returns the rows that have an infinite or NaN element: the sum of a row is
  /// finite only if its elements are.
  mlir::Value isNotFinite(mlir::Value o);
  /// Returns o * alpha.
  mlir::Value scaleBy(mlir::Value alpha, mlir::Value o);
  /// Returns o * alpha if `any` holds, otherwise o.
  mlir::Value scaleIf(mlir::Value any, mlir::Value o, mlir::Value alpha);

  SoftmaxBuilder &b;
  LargeScores &large;
  int64_t threshold;

private:
  Moved moveLarge(mlir::Value x, mlir::Value top, mlir::Value previous,
                  mlir::Value floor);
};

/// The maximum of all scores so far.
std::unique_ptr<Reference>
makeRunningReference(SoftmaxBuilder &b, LargeScores &large, int64_t threshold);

/// The maximum of the first block with keys, as long as the sum of the row
/// stays small.
std::unique_ptr<Reference> makeFirstBlockReference(SoftmaxBuilder &b,
                                                   LargeScores &large,
                                                   int64_t threshold);

/// The maximum of all scores so far and of 0, found by integer comparisons.
std::unique_ptr<Reference>
makeIntegerReference(SoftmaxBuilder &b, LargeScores &large, int64_t threshold);

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_REFERENCE_H
