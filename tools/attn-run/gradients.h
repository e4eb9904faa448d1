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
  /// The contract of the kernels under test.
  runtime::PlanGradientNumerics numerics;
  /// Whether the statistics are computed from an O in the problem's dtype.
  bool roundsOutput = false;
  /// Whether the gradients of captures, the scale and the sinks are wanted.
  bool ofCaptures = false;
};

/// One number for each element of the gradients of Q, K and V, packed in the
/// layout of the problem.
struct GradientElements {
  std::vector<double> q, k, v;
};

/// The gradient of a capture, packed; a number has one element.
struct CaptureGradient {
  std::vector<double> exact;
  /// The largest error by the contract, before the result is rounded.
  std::vector<double> bound;
};

/// The gradients of Q, K and V, and the row statistics that they are computed
/// with.
struct Gradients : GradientElements {
  /// (batch, heads, queries): the sum of dO * O, minus dLSE; 0 for rows without
  /// keys and sinks.
  std::vector<double> delta;
  /// (batch, heads, queries): the natural logarithm; -inf for rows without
  /// keys and sinks.
  std::vector<double> lse;
  /// The gradients with probabilities, derivatives by scores and results
  /// rounded to the problem's dtype.
  GradientElements rounded;
  /// The largest error by the contract.
  GradientElements bound;
  /// The gradients of captures of floats, by the plan's arguments, of the
  /// scale and of the sinks. Empty if they are not wanted.
  std::vector<CaptureGradient> captures;
  CaptureGradient scale, sinks;
  /// O, in the problem's dtype and layout, packed.
  std::vector<float> output;
};

/// Computes the gradients. A row without keys contributes to those of the sinks
/// only, and a key without weight to none.
Gradients computeGradients(const ReferenceInputs &in,
                           const ResultGradients &of);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_GRADIENTS_H
