// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCWRITER_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCWRITER_H

#include "SyncPrograms.h"

namespace attn {

/// Writes the tokens of one agent, step by step.
void writeTokens(SyncPrograms &programs, int agent);

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCWRITER_H
