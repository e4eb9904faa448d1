// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares a kernel's outputs with the reference.

#ifndef ATTN_TOOLS_ATTN_RUN_CHECK_H
#define ATTN_TOOLS_ATTN_RUN_CHECK_H

#include "reference.h"
#include "tensors.h"

namespace attn::run {

// Two rules apply. The first is the numerics contract of the plan
// (docs/launch-plan.md), a bound for every element of O and LSE, for all
// inputs. The second compares O with a plain implementation on these inputs.
// With the float64 reference O64 and the reference Oref, whose scores,
// probabilities and output are rounded to the dtype:
//   max |O - O64| <= 2 max |Oref - O64| + 1e-5
//   mean |O - O64| <= 1.5 mean |Oref - O64| + 1e-6
// The absolute terms admit rows for which the rounded reference happens to be
// exact, such as rows with one key. If the reference is not finite, the output
// must not be finite. If V is not finite for a key that a row does not admit,
// the output may be anything: kernels multiply that V by 0, or skip it.
constexpr double kMaxErrorFactor = 2;
constexpr double kMaxErrorFloor = 1e-5;
constexpr double kMeanErrorFactor = 1.5;
constexpr double kMeanErrorFloor = 1e-6;

struct CheckResult {
  /// The first broken rule, or "".
  std::string failure;
  int64_t rows = 0;
  int64_t rowsCompared = 0;
  /// Rows without an admissible key, all of which are checked.
  int64_t emptyRows = 0;
  double maxError = 0;
  double maxErrorRounded = 0;
  double meanError = 0;
  double meanErrorRounded = 0;
  double lseError = 0;
  /// The errors of O and LSE as shares of their bounds, the largest of each.
  double oShare = 0;
  double lseShare = 0;
  /// The names of the results in messages; the second is null if there is one
  /// result.
  const char *name = "O";
  const char *lseName = "LSE";
  /// The results for gradients of captures, as text.
  std::string captures;
};

/// Makes the inputs of the reference, from the tensors that the kernel
/// received, and the contract of the plan's variant `variant`.
ReferenceInputs makeReferenceInputs(const runtime::LaunchPlan &plan,
                                    size_t variant, const Problem &problem,
                                    const std::vector<HostTensor> &tensors);

/// Checks `o`, in the problem's layout, and `lse` (batch, heads, seqlen) unless
/// it is null. Every element is checked for NaN, and every empty row for its
/// values; the others are compared with the reference, or an even sample of
/// them if they are too many for the CPU (`macBudget` multiply-adds).
CheckResult checkOutputs(const ReferenceInputs &in, const HostTensor &o,
                         const HostTensor *lse, double macBudget = 4e9);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CHECK_H
