// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a role gets its work items from, or hands them out.
#include "RoleBuilder.h"

using namespace mlir;
using namespace attn;

/// Does this role hand the work items out to the others?
bool RoleBuilder::handsOut() const {
  return program.workChannel && ownSteps.contains("next");
}

/// A work item is handed out where the role's turn begins.
LogicalResult RoleBuilder::checkNext() {
  if (!handsOut()) {
    return success();
  }
  ArrayRef<EntryAttr> before = body.getBefore();
  if (before.empty() || before.front().getAct() != Act::Op ||
      before.front().getTarget() != "next" ||
      before.front().getGuard() != Guard::Always ||
      before.front().getShift() != 0) {
    return error("no lowering for 'next' elsewhere than as the first entry "
                 "of 'before', without guard and shift");
  }
  return success();
}

/// The work item of this turn: computed, got from the role that hands items
/// out, or put into the channel for the others.
LogicalResult RoleBuilder::emitNext(tile::StepOp next) {
  if (!program.workChannel) {
    return emitCompute(next);
  }
  auto type = ws::SlotType::get(
      builder.getContext(), symbol(program.workChannel.getName().getValue()),
      ws::SlotType::workItemType(builder.getContext()));
  Value item = next.getResult(0);
  if (!handsOut()) {
    Value slot = ws::WaitOp::create(builder, loc(), type);
    env.map(item, ws::GetWorkOp::create(builder, loc(), item.getType(), slot));
    ws::ReleaseOp::create(builder, loc(), slot);
  } else {
    if (failed(emitCompute(next))) {
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
  fetched = true;
}

/// The next work item is asked for late, so that no CTA sits on an item that
/// another could begin; but before the last entry of this one, which waits for
/// a slot while the answer comes.
void RoleBuilder::insertFetch(SmallVectorImpl<BodyItem> &items) {
  auto last = llvm::find_if(llvm::reverse(items), [](const BodyItem &item) {
    return item.kind == BodyItem::Step && item.shift > 0 && !item.guard;
  });
  if (!handsOut() || last == items.rend()) {
    return;
  }
  items.insert(
      last.base() - 1,
      BodyItem{BodyItem::Fetch, {}, {}, {}, 0, 0, str("last"), "fetch"});
}
