// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_NVXENUMS_TD
#define ATTN_DIALECT_NVXENUMS_TD

include "mlir/IR/EnumAttr.td"

#endif // ATTN_DIALECT_NVXENUMS_TD
