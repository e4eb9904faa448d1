// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from roles and channels to PTX and cubin (L2 to L4).
// Each description states what the pass requires and what it ensures.
#ifndef ATTN_CODEGEN_PASSES_TD
#define ATTN_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // ATTN_CODEGEN_PASSES_TD
