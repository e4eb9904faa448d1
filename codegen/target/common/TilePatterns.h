// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one thread holds of a tile.
#ifndef ATTN_CODEGEN_TILEPATTERNS_H
#define ATTN_CODEGEN_TILEPATTERNS_H

#include "attn/dialect/Nvx.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// Do two elements share a register?
bool isPacked(mlir::Type element);

/// The layout of a tile; null for types that are not laid out.
tile::LayoutAttr layoutOf(mlir::Type type);

/// What a thread holds of a tile; other tensors stay as they are.
mlir::Type distributedType(mlir::RankedTensorType type);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TILEPATTERNS_H
