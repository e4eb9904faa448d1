// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the recurrence of (m, l, O) in the place of the abstract softmax.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_WRITER_H
#define ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_WRITER_H

#include "SoftmaxMatch.h"

namespace attn {

/// Replaces what `match` found; its ops are erased.
void writeOnlineSoftmax(tile::KernelOp kernel, SoftmaxMatch match);

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_SOFTMAX_WRITER_H
