// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a tile that one thread holds.
#ifndef ATTN_CODEGEN_TILEPATTERNS_H
#define ATTN_CODEGEN_TILEPATTERNS_H

#include "attn/dialect/Nvx.h"
#include "attn/dialect/Ws.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::codegen {

/// Whether two elements share a register.
bool isPacked(mlir::Type element);

/// Returns the layout of a tile; null for types without one.
tile::LayoutAttr layoutOf(mlir::Type type);

/// Returns the type of a thread's elements of a tile; other tensors stay as
/// they are.
mlir::Type distributedType(mlir::RankedTensorType type);

/// Moves the keys of dropout's random numbers before loops in which they stay
/// the same: nothing after this pass does.
void hoistDropoutKeys(ws::RoleOp role);

/// Lowers the random numbers of dropout.
void populateDropoutPatterns(mlir::RewritePatternSet &patterns,
                             const mlir::TypeConverter &types);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TILEPATTERNS_H
