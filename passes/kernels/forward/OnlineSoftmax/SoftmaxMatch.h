// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the abstract softmax of a kernel: the step with `tile.attend`, the loop
// that carries its state, and the step that reads the results.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_MATCH_H
#define ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_MATCH_H

#include "attn/dialect/Tile.h"

namespace attn {

struct SoftmaxMatch {
  tile::ForOp loop;
  tile::StepOp attendStep, resultStep;
  tile::AttendOp attend;
  unsigned carried = 0; // number of the state among the carried values
  mlir::Value scores, values, state; // operands of the step with `tile.attend`
  mlir::Value work;                  // null if nothing depends on it
  mlir::Value parts;                 // of the `tile.cut`; null without one
  /// The steps that make operand `keep` of the op, and `sinks` of its results;
  /// null without them.
  tile::StepOp keepStep, sinkStep;
};

/// Returns the softmax around `attend`, or an error that says why it cannot be
/// fused.
mlir::FailureOr<SoftmaxMatch> matchSoftmax(tile::AttendOp attend,
                                           tile::KernelOp kernel);

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_MATCH_H
