// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the row statistics of a backward pass with float64.

#ifndef ATTN_TOOLS_ATTN_RUN_CHECK_DELTA_H
#define ATTN_TOOLS_ATTN_RUN_CHECK_DELTA_H

#include "check.h"

namespace attn::run {

/// Checks delta and lse2, from the O, dO, LSE and dLSE among `tensors`: each
/// row is compared, by the contract of the plan's variant `variant`, and must
/// be 0 and +inf if its LSE is -inf or it comes after the last query.
CheckResult checkDelta(const runtime::LaunchPlan &plan, size_t variant,
                       const Problem &problem,
                       const std::vector<HostTensor> &tensors);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CHECK_DELTA_H
