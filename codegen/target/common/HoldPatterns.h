// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conflicts between puts into holds and the operands of products.
#ifndef ATTN_CODEGEN_HOLDPATTERNS_H
#define ATTN_CODEGEN_HOLDPATTERNS_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// Whether `mma` reads a place in shared memory for which `isPlace` holds.
bool readsPlace(ws::MmaOp mma,
                llvm::function_ref<bool(llvm::StringRef)> isPlace);
/// Returns the operand of a product that is the pieces that all replicas put,
/// or null.
mlir::Value operandOfAllPieces(ws::MmaOp mma);

/// Whether `put` writes shared memory of `place`, under the same or another
/// name.
bool overlaps(ws::PutOp put, llvm::StringRef place);

/// Whether `put` writes shared memory that `mma` reads, under the same or
/// another name.
bool overwritesOperand(ws::PutOp put, ws::MmaOp mma);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_HOLDPATTERNS_H
