// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The item that a CTA claims from the grid's counter as it begins. One thread
// asks the counter before the roles start, and leaves the number in shared
// memory.
#ifndef ATTN_CODEGEN_ITEMCLAIM_H
#define ATTN_CODEGEN_ITEMCLAIM_H

#include "ParamValues.h"

namespace attn::codegen {

/// Inserts a `ws.setup` that claims the item.
void claimItem(ws::KernelOp kernel, const ParamValues &params);

/// Emits the number of the item that the CTA has claimed. It is loaded again at
/// each use, so that no register has to hold it.
mlir::Value claimedItem(mlir::OpBuilder &builder, mlir::Location loc,
                        ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_ITEMCLAIM_H
