// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared memory by which the roles of a CTA, and the CTAs of a cluster,
// agree on work items.
#ifndef ATTN_DIALECT_ITEMMEMORY_H
#define ATTN_DIALECT_ITEMMEMORY_H

#include "attn/dialect/Ws.h"

namespace attn::ws {

/// Is there a `tile.reject` in `root`, so that items may be run again?
inline bool mayReject(mlir::Operation *root) {
  return root
      ->walk([](tile::RejectOp) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether the CTAs of a cluster are handed their items, which needs a mailbox.
inline bool hasMailbox(ConfigAttr config) {
  return config.getWork() == WorkKind::Dynamic && config.getCluster() > 1;
}

/// What lies after the barriers of channels and edges, which end at `begin`:
/// the verdict on items that may be rejected, and the mailbox.
struct ItemMemory {
  std::optional<int64_t> verdict, mailbox; // their first bytes
  int64_t end;

  ItemMemory(int64_t begin, bool hasVerdict, bool hasMailbox) : end(begin) {
    if (hasVerdict) {
      verdict = end;
      end += verdictBytes;
    }
    if (hasMailbox) {
      mailbox = llvm::alignTo(end, workItemBytes);
      end = *mailbox + mailboxBytes;
    }
  }
};

} // namespace attn::ws

#endif // ATTN_DIALECT_ITEMMEMORY_H
