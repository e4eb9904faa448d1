// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a put into a hold does to the operands of products.
#ifndef ATTN_CODEGEN_HOLDPATTERNS_H
#define ATTN_CODEGEN_HOLDPATTERNS_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// Does `mma` read a place in shared memory of which `isPlace` holds?
bool readsPlace(ws::MmaOp mma,
                llvm::function_ref<bool(llvm::StringRef)> isPlace);

/// Does `put` write shared memory that `mma` reads, under this name or another?
bool overwritesOperand(ws::PutOp put, ws::MmaOp mma);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_HOLDPATTERNS_H
