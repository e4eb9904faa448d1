// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_WSENUMS_TD
#define ATTN_DIALECT_WSENUMS_TD

include "mlir/IR/EnumAttr.td"

#endif // ATTN_DIALECT_WSENUMS_TD
