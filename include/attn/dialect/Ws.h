// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `ws` dialect: types, attributes and ops.
#ifndef ATTN_DIALECT_WS_H
#define ATTN_DIALECT_WS_H

#include "attn/dialect/Tile.h"
#include "attn/dialect/WsDialect.h.inc"
#include "attn/dialect/WsEnums.h.inc"
#include "attn/support/mlir_pch.h"

namespace attn::ws {

/// The swizzle of tiles repeats every 1024 bytes of shared memory.
constexpr int64_t tileAlignment = 1024;
/// Of row vectors in shared memory.
constexpr int64_t rowAlignment = 128;

/// The size of a work item in shared memory: row block, head, batch, padding.
constexpr int64_t workItemBytes = 16;
/// The size of an mbarrier.
constexpr int64_t barrierBytes = 8;
/// Shared memory and everything that orders accesses to it.
struct SharedResource : mlir::SideEffects::Resource::Base<SharedResource> {
  llvm::StringRef getName() final { return "ws.shared"; }
};

/// Returns the size of a static tile in shared memory, in bytes.
int64_t tileBytes(mlir::Type tile);

} // namespace attn::ws

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/WsAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/WsTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/dialect/WsOps.h.inc"

#endif // ATTN_DIALECT_WS_H
