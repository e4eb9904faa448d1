// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the inputs of kernels of gradients that a forward pass would have
// computed, and compares their results with float64.

#ifndef ATTN_TOOLS_ATTN_RUN_CHECK_GRADIENTS_H
#define ATTN_TOOLS_ATTN_RUN_CHECK_GRADIENTS_H

#include "check.h"
#include "gradients.h"

namespace attn::run {

/// Whether launches compute gradients of Q, K, V, captures or the scale.
bool makesGradients(const runtime::LaunchPlan &plan);

/// Computes the gradients, from the Q, K, V and dO among `tensors` and an LSE
/// gradient that the problem's seed gives, and their bounds by the contract of
/// the plan's variant `variant`. Sets the statistics among `tensors`
/// to those of the reference: 0 and +inf in rows without keys and after the
/// last query; or, of a whole backward pass, O, the LSE and its gradient.
Gradients makeStatistics(const runtime::LaunchPlan &plan, size_t variant,
                         const Problem &problem,
                         std::vector<HostTensor> &tensors);

/// Checks those of dQ, dK and dV that are among `tensors`: each element is
/// compared with its bound, and the maximum and mean errors with those of the
/// rounded reference, as in check.h. Gradients of captures and of the scale are
/// compared with their bounds.
CheckResult checkGradients(const runtime::LaunchPlan &plan,
                           const Gradients &want,
                           const std::vector<HostTensor> &tensors);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CHECK_GRADIENTS_H
