// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a role gets its work items from, or hands them out.
#include "RoleBuilder.h"

using namespace mlir;
using namespace attn;

/// Does this role hand the work items out to the others?
bool RoleBuilder::handsOut() const {
  return llvm::any_of(instance->runs.set_bits(), [&](int step) {
    return program.bound().makesWork(step);
  });
}

/// The work item of this turn: computed, got from the role that hands items
/// out, or put into the channel for the others.
LogicalResult RoleBuilder::emitNext() {
  if (!program.workChannel) {
    return emitCompute(program.next);
  }
  auto type =
      ws::SlotType::get(builder.getContext(), symbol(program.workChannel->name),
                        ws::SlotType::workItemType(builder.getContext()));
  Value item = program.next.getResult(0);
  if (!handsOut()) {
    Value slot = ws::WaitOp::create(builder, loc(), type);
    env.map(item, ws::GetWorkOp::create(builder, loc(), item.getType(), slot));
    ws::ReleaseOp::create(builder, loc(), slot);
  } else {
    if (failed(emitCompute(program.next))) {
      return failure();
    }
    Value slot = ws::AcquireOp::create(builder, loc(), type);
    ws::PutWorkOp::create(builder, loc(), env.lookup(item), slot);
  }
  ws::EndUnlessWorkOp::create(builder, loc(), env.lookup(item));
  return success();
}

void RoleBuilder::emitFetch() {
  Value items = env.lookupOrDefault(nextWork.getBlocks());
  for (Value extent : {nextWork.getHeads(), nextWork.getBatches()}) {
    items = arith::MulIOp::create(builder, loc(), items,
                                  env.lookupOrDefault(extent));
  }
  if (nextWork.getWhole()) {
    // Items that are cut are handed out once a part.
    Value whole = env.lookupOrDefault(nextWork.getWhole());
    Value parts = env.lookupOrDefault(nextWork.getParts());
    Value cut = arith::SubIOp::create(builder, loc(), items, whole);
    Value inParts = arith::MulIOp::create(builder, loc(), cut, parts);
    items = arith::AddIOp::create(builder, loc(), whole, inParts);
  }
  ws::FetchWorkOp::create(builder, loc(), items);
}
