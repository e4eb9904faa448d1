// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the exponentials of a row are taken relative to, m of exp2(x - m), and
// what follows when it moves. There are two ways of getting it; config option
// `row_max` says which.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_REFERENCE_H
#define ATTN_PASSES_ONLINE_SOFTMAX_REFERENCE_H

#include "SoftmaxBuilder.h"

namespace attn {

/// What the loop carries. `careful` is null with a running maximum, else: some
/// row of the warp has no reference yet.
struct SoftmaxState {
  mlir::Value m, l, o, careful;
};

class Reference {
public:
  virtual ~Reference() = default;

  /// Whether the loop carries `careful`, which starts out true.
  virtual bool carriesCareful() const = 0;
  /// Step `stat`: returns the state with the reference for these scores.
  virtual SoftmaxState writeStat(const SoftmaxState &old) = 0;
  /// Step `sum`: l and the row sums of `p`.
  virtual mlir::Value writeSum(mlir::Value p, mlir::Value l) = 0;
  /// Step `rescale`: O in units of the new reference.
  virtual mlir::Value writeRescale(mlir::Value o) = 0;
  /// After the last block, of the normalized O and the partial row sum.
  virtual void writeCheck(mlir::Value o, mlir::Value l) = 0;

protected:
  Reference(SoftmaxBuilder &b, int64_t threshold)
      : b(b), threshold(threshold) {}

  /// m and alpha = exp2(old m - m): m moves only where the maximum of the
  /// scores `x`, or `floor` unless that is null, exceeds it by more than the
  /// threshold.
  std::pair<mlir::Value, mlir::Value>
  moveMaximum(mlir::Value x, mlir::Value previous, mlir::Value floor);
  /// o * alpha.
  mlir::Value scaleBy(mlir::Value alpha, mlir::Value o);
  /// o * alpha where `any` holds.
  mlir::Value scaleIf(mlir::Value any, mlir::Value o, mlir::Value alpha);

  SoftmaxBuilder &b;
  int64_t threshold;
};

/// The maximum of all scores so far.
std::unique_ptr<Reference> makeRunningReference(SoftmaxBuilder &b,
                                                int64_t threshold);

/// The maximum of the first block with keys, for as long as the sum of the row
/// stays small.
std::unique_ptr<Reference> makeFirstBlockReference(SoftmaxBuilder &b,
                                                   int64_t threshold);

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_REFERENCE_H
