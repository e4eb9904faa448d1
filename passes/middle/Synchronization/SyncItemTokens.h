// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens of verdicts on work items, and of the mailbox of a cluster.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCITEMTOKENS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCITEMTOKENS_H

#include "SyncTokens.h"

namespace attn {

void giveVerdict(SyncTokens &to, const SyncStep &step);
void takeVerdict(SyncTokens &to, const SyncStep &step);
/// The first CTA sends the item, the others receive it.
void shareItem(SyncTokens &to, const SyncStep &step);

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCITEMTOKENS_H
