// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of attention on the CPU, in float64.

#ifndef ATTN_TOOLS_ATTN_RUN_GRADIENTS_H
#define ATTN_TOOLS_ATTN_RUN_GRADIENTS_H

#include "reference.h"

namespace attn::run {

/// The gradients of the results of a forward pass.
struct ResultGradients {
  std::vector<float> o; // packed, in the layout of the problem
  /// (batch, heads, queries); empty if nothing depends on the LSE.
  std::vector<float> lse;
};

/// The gradients of Q, K and V, packed in the layout of the problem, and the
/// row statistic that they are computed with.
struct Gradients {
  std::vector<double> q, k, v;
  /// (batch, heads, queries): the sum of dO * O, minus dLSE; 0 for rows without
  /// keys.
  std::vector<double> delta;
};

/// Computes the gradients. A row without keys contributes nothing, nor does a
/// key without weight.
Gradients computeGradients(const ReferenceInputs &in,
                           const ResultGradients &of);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_GRADIENTS_H
