// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from attention on tensors to roles and channels (L0 to L2).
// Each description states what the pass requires and what it ensures.
#ifndef ATTN_PASSES_PASSES_TD
#define ATTN_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // ATTN_PASSES_PASSES_TD
