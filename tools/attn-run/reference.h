// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on the CPU, one row at a time: in float64, and with the roundings
// of a kernel.

#ifndef ATTN_TOOLS_ATTN_RUN_REFERENCE_H
#define ATTN_TOOLS_ATTN_RUN_REFERENCE_H

#include "problem.h"

namespace attn::run {

/// A problem with its inputs as floats, packed in its layout.
struct ReferenceInputs {
  Problem problem;
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
  /// The captures that the problem's regions read.
  Captures captures;
  /// The numerics contract of the kernel under test. Of a backward pass, only
  /// the error of its scores is known here.
  runtime::PlanNumerics numerics;
};

/// Allowance for score regions: a kernel may round more often, and in another
/// order, than the lane of the reference that estimates the largest error.
constexpr double kRegionFactor = 4;

/// The results of one row, and memory for its computation.
struct RowResult {
  bool hasKeys = false;
  /// The natural logarithm; -inf without keys.
  double lse = 0;
  /// O in float64; zeros without keys.
  std::vector<double> exact;
  /// O with the probabilities and O itself rounded to the problem's dtype, and
  /// with normal inputs also the scores: rounding large scores would remove
  /// their differences, which kernels preserve.
  std::vector<double> rounded;
  /// The largest allowed difference of O from `exact`, by the numerics
  /// contract.
  std::vector<double> bound;
  /// The largest allowed error of the LSE.
  double lseBound = 0;

  /// The factor by which dropout multiplies the weight of each key in O.
  std::vector<double> factors;
  /// The share that the keys have in the sum of the softmax, beside the sink.
  double share = 1;

  std::vector<int64_t> keys;
  std::array<std::vector<double>, kLanes> scores;
};

/// Whether row `row` may attend to key `j`.
bool isAdmissible(const ReferenceInputs &in, const Row &row, int64_t j);

/// Whether row `row` has an admissible key.
bool hasAdmissibleKey(const ReferenceInputs &in, const Row &row);

/// Counts the admissible (row, key) pairs of all batches and heads.
int64_t countAdmissiblePairs(const ReferenceInputs &in);

/// Computes `row`. The score of an admissible key is scale * q.k, after the
/// score region.
void computeRow(const ReferenceInputs &in, const Row &row, RowResult &out);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REFERENCE_H
