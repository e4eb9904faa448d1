// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mailbox of each CTA of a cluster that is handed work items: one barrier
// says that the item has come, one that all other CTAs have read the last; then
// the item, and a word with the parity of both barriers in the turn.
#include "ChannelLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using ws::barrierBytes;

void ChannelLowering::emitMailboxSetup() {
  if (!mailbox) {
    return;
  }
  auto init = [&](int64_t offset, int64_t count) {
    NVVM::MBarrierInitOp::create(builder, loc, barrierAt(offset, {}),
                                 constant(count), Value());
  };
  constexpr int64_t ends = 2; // the sender and the receiver
  init(*mailbox, ends);
  init(*mailbox + barrierBytes, clusterSize() - 1);
  Value parity = ws::SmemOp::create(
      builder, loc, sharedPtr(),
      constant(*mailbox + 2 * barrierBytes + ws::workItemBytes));
  LLVM::StoreOp::create(builder, loc, constant(0), parity);
}
