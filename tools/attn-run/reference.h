// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on the CPU, one row at a time: in float64, and as a kernel that
// rounds what it stores would compute it.

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
  /// What the problem's regions read.
  Captures captures;
  /// The contract of the kernel that is checked.
  runtime::PlanNumerics numerics;
};

/// The ops of a score region may round more often, and in another order, than
/// the lane of the reference that shows how far a kernel may be off.
constexpr double kRegionFactor = 4;

/// One row's results, and the memory its computation needs.
struct RowResult {
  bool hasKeys = false;
  /// Natural log; -inf without keys.
  double lse = 0;
  /// O in float64; zeros without keys.
  std::vector<double> exact;
  /// O with the probabilities and O itself rounded to the problem's dtype, and
  /// with normal inputs the scores as well: large ones would lose what tells
  /// them apart, which kernels keep.
  std::vector<double> rounded;
  /// By how much O may differ from `exact`, by the numerics contract.
  std::vector<double> bound;
  /// By how much the LSE may differ.
  double lseBound = 0;

  std::vector<int64_t> keys;
  std::array<std::vector<double>, kLanes> scores;
};

/// Whether row `row` may attend to key `j`.
bool isAdmissible(const ReferenceInputs &in, const Row &row, int64_t j);

/// Whether row `row` has an admissible key.
bool hasAdmissibleKey(const ReferenceInputs &in, const Row &row);

/// The admissible (row, key) pairs of all batches and heads.
int64_t countAdmissiblePairs(const ReferenceInputs &in);

/// Computes `row`. The score of an admissible key is
/// scale * q.k, and what the score region makes of it.
void computeRow(const ReferenceInputs &in, const Row &row, RowResult &out);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REFERENCE_H
