// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the recurrence of (m, l, O) in place of the abstract softmax.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_WRITER_H
#define ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_WRITER_H

#include "SoftmaxMatch.h"

namespace attn {

/// Replaces the ops of `match`, which are erased.
void writeOnlineSoftmax(tile::KernelOp kernel, SoftmaxMatch match);

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_WRITER_H
