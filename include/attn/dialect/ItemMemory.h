// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of the shared memory through which the roles of a CTA, and the
// CTAs of a cluster, agree on work items.
#ifndef ATTN_DIALECT_ITEMMEMORY_H
#define ATTN_DIALECT_ITEMMEMORY_H

#include "attn/dialect/Ws.h"

namespace attn::ws {

/// Whether `root` contains a `tile.reject`, so that items may have a second
/// run.
inline bool mayReject(mlir::Operation *root) {
  return root
      ->walk([](tile::RejectOp) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether items are handed out to the CTAs of a cluster, which needs a
/// mailbox.
inline bool hasMailbox(ConfigAttr config) {
  return config.getWork() == WorkKind::Dynamic && config.getCluster() > 1;
}

/// Whether items wait for the turns of others. Those must have begun before,
/// and CTAs need not begin in the order of their numbers.
inline bool waitsForTurns(ArgumentsAttr args) {
  std::optional<unsigned> turns = args.find(ArgumentRole::Turns);
  return turns && args[*turns].getAccess() == ArgumentAccess::Accumulate;
}

/// Whether a CTA takes its only item from a counter as it begins.
inline bool claimsItem(ArgumentsAttr args, ConfigAttr config) {
  return config.getWork() == WorkKind::Grid && waitsForTurns(args);
}

/// Whether the first item of a persistent CTA comes from the counter, as its
/// others do.
inline bool claimsFirstItem(ArgumentsAttr args, ConfigAttr config) {
  return config.getWork() == WorkKind::Dynamic && waitsForTurns(args);
}

/// The number of verdicts that may be unknown: those of two iterations.
constexpr int64_t verdictRing = 2;
constexpr int64_t wordBytes = 4;

/// The word of a replica that writes stamps: where its next stamp goes.
constexpr int64_t stampCursorBytes = wordBytes;

/// Words of the role that hands out items, which has few registers: the number
/// of the iteration, the number of known verdicts, and the items of the last
/// two iterations.
enum HandOutWord : int64_t { iterationWord, knownWord, beforeWord, lastWord };
constexpr int64_t handOutWords = 4;

/// The memory of a verdict: a ring of barriers, a word for each, and the words
/// of the role that hands out items.
struct VerdictMemory {
  static constexpr int64_t alignment = barrierBytes;
  int64_t begin;

  int64_t barrier(int64_t slot) const { return begin + slot * barrierBytes; }
  int64_t word(int64_t slot) const {
    return barrier(verdictRing) + slot * wordBytes;
  }
  int64_t handOut(int64_t index) const {
    return word(verdictRing) + index * wordBytes;
  }
  int64_t end() const { return handOut(handOutWords); }
};

/// The memory of a mailbox: a barrier for the arrival of the item, one for the
/// reads of the last item, the item, and a word with the parity of both.
struct MailboxMemory {
  static constexpr int64_t alignment = workItemBytes;
  static constexpr int64_t barriers = 2;
  int64_t begin;

  int64_t hasCome() const { return begin; }
  int64_t wasRead() const { return begin + barrierBytes; }
  int64_t item() const { return begin + barriers * barrierBytes; }
  int64_t parity() const { return item() + workItemBytes; }
  int64_t end() const { return parity() + alignment; }
};

/// Returns the memory that `attn-plan-memory` assigned to an op.
inline VerdictMemory memoryOf(VerdictOp op) {
  return {static_cast<int64_t>(*op.getOffset())};
}
inline MailboxMemory memoryOf(MailboxOp op) {
  return {static_cast<int64_t>(*op.getOffset())};
}

/// The word with the number of the item that a CTA claimed.
constexpr int64_t claimBytes = wordBytes;

/// The memory after the barriers of channels and edges, which end at `begin`:
/// the verdict on items that may be rejected, the mailbox, and the claim, which
/// no op declares.
struct ItemMemory {
  std::optional<int64_t> verdict, mailbox; // offsets of their first bytes
  int64_t end;

  ItemMemory(int64_t begin, bool hasVerdict, bool hasMailbox, bool hasClaim)
      : end(begin) {
    if (hasVerdict) {
      verdict = end;
      end = VerdictMemory{end}.end();
    }
    if (hasMailbox) {
      mailbox = llvm::alignTo(end, MailboxMemory::alignment);
      end = MailboxMemory{*mailbox}.end();
    }
    end += hasClaim ? claimBytes : 0;
  }
};

} // namespace attn::ws

#endif // ATTN_DIALECT_ITEMMEMORY_H
