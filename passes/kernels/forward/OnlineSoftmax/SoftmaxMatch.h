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
  unsigned carried = 0; // number of the state among the loop's values
  mlir::Value scores, values, state; // operands of the attend step
  mlir::Value work;                  // null where nothing depends on it
  mlir::Value parts;                 // of items that are cut; null if none is
};

/// The softmax round `attend`, or an error that says what is in the way.
mlir::FailureOr<SoftmaxMatch> matchSoftmax(tile::AttendOp attend,
                                           tile::KernelOp kernel);

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_MATCH_H
