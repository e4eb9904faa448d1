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

/// Swizzled tiles repeat every 1024 bytes of shared memory.
constexpr int64_t tileAlignment = 1024;

/// A work item in shared memory: row block, head, batch, padding.
constexpr int64_t workItemBytes = 16;
/// Of an mbarrier.
constexpr int64_t barrierBytes = 8;
/// Verdicts on work items that are not known yet: those of two turns.
constexpr int64_t verdictRing = 2;
/// Words of the role that hands out items, which has few registers: the turn's
/// number, that of the verdicts known, and the items of the last two turns.
constexpr int64_t handOutWords = 4;
/// What they take of shared memory: for each verdict a barrier and a word, and
/// the words of that role.
constexpr int64_t verdictBytes =
    verdictRing * (barrierBytes + 4) + 4 * handOutWords;

/// By which a cluster's first CTA tells the others their items: a barrier that
/// the item has come, one that the last has been read, the item, and a word
/// with the barriers' parity, aligned.
constexpr int64_t mailboxBytes = 2 * barrierBytes + 2 * workItemBytes;

/// Shared memory and everything that orders accesses to it.
struct SharedResource : mlir::SideEffects::Resource::Base<SharedResource> {
  llvm::StringRef getName() final { return "ws.shared"; }
};

/// Bytes of a static tile in shared memory.
int64_t tileBytes(mlir::Type tile);

} // namespace attn::ws

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/WsAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/WsTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/dialect/WsOps.h.inc"

#endif // ATTN_DIALECT_WS_H
