// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleBuilder.h"
#include "attn/dialect/ItemMemory.h"

using namespace mlir;
using namespace attn;

bool RoleBuilder::runs(tile::StepOp step) {
  return ownSteps.contains(step.getName());
}

LogicalResult RoleBuilder::build() {
  body = program.schedule.findBody(role.getName().getValue());
  if (!body || body.getReplica() >= 0) {
    return error("expected one body for all replicas");
  }
  using Section = std::pair<ArrayRef<EntryAttr>, bool>;
  for (auto [list, inLoop] :
       {Section(body.getBefore(), false), Section(body.getKv(), true),
        Section(body.getAfter(), false)}) {
    for (EntryAttr entry : list) {
      if (entry.getAct() == Act::Op || entry.getAct() == Act::Await) {
        if (!program.steps.count(entry.getTarget().getValue())) {
          return error("expected a step of the kernel, got '" +
                       entry.getTarget().getValue() + "'");
        }
      }
      if (entry.getAct() == Act::Op) {
        ownSteps.insert(entry.getTarget().getValue());
      }
      if (failed(checkShare(entry, inLoop))) {
        return failure();
      }
    }
  }
  if (failed(checkNext())) {
    return failure();
  }
  int64_t replicas = std::max<int64_t>(1, role.getReplicas());
  auto op = ws::RoleOp::create(builder, loc(), str(role.getName().getValue()),
                               builder.getI64IntegerAttr(role.getWarps()),
                               builder.getI64IntegerAttr(role.getRegs()),
                               builder.getI64IntegerAttr(replicas));
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, builder.getI32Type(), loc());
  replica = block->getArgument(0);
  return buildWork();
}

/// Outside the loop stores can be listed a sub-tile at a time, in a role
/// without replicas.
LogicalResult RoleBuilder::checkShare(EntryAttr entry, bool inLoop) {
  auto step = program.steps.lookup(entry.getTarget().getValue());
  bool isStore = step && !step.getBody().getOps<tile::StoreOp>().empty();
  bool whole = entry.getSubtile() < 0;
  bool bySubtile = isStore && !inLoop && role.getReplicas() <= 1 &&
                   entry.getSubtile() < program.schedule.getSubtiles();
  if (entry.getPart() >= 0 || !(whole || bySubtile)) {
    return error("no lowering for '" + entry.getTarget().getValue() +
                 "' by part or by sub-tile");
  }
  return success();
}

/// The sub-tile that an entry says, else the one of the replica.
Value RoleBuilder::ownSubtile() {
  return subtile ? arith::ConstantIntOp::create(builder, loc(), *subtile, 32)
                 : replica;
}

LogicalResult RoleBuilder::buildWork() {
  auto next = program.steps.lookup("next");
  if (!next || next.getBody().getOps<tile::NextWorkOp>().empty()) {
    return error("expected step 'next' to hold 'tile.next_work'");
  }
  nextWork = *next.getBody().getOps<tile::NextWorkOp>().begin();
  auto work = ws::WorkLoopOp::create(
      builder, loc(), env.lookupOrDefault(nextWork.getBlocks()),
      env.lookupOrDefault(nextWork.getHeads()),
      env.lookupOrDefault(nextWork.getBatches()),
      ws::mayReject(program.work) ? builder.getUnitAttr() : UnitAttr(),
      IntegerAttr(), IntegerAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&work.getBody());
  if (failed(emitNext(next))) {
    return failure();
  }
  for (Operation &op : program.work.getBody().front()) {
    if (!isa<tile::StepOp, tile::ForOp>(op)) {
      builder.clone(op, env);
    }
  }
  if (failed(emitEntries(body.getBefore())) || failed(buildLoop()) ||
      failed(emitEntries(body.getAfter()))) {
    return failure();
  }
  if (handsOut() && !fetched) {
    emitFetch();
  }
  // Stores of the last item still read shared memory.
  bool stores = false;
  for (StringRef name : ownSteps) {
    stores |=
        !program.steps.lookup(name).getBody().getOps<tile::StoreOp>().empty();
  }
  if (stores) {
    builder.setInsertionPointAfter(work);
    ws::AwaitStoreOp::create(builder, loc());
  }
  return success();
}

/// Outside the loop nothing is in flight but stores, and nothing is shifted
/// but their await.
LogicalResult RoleBuilder::checkOutside(EntryAttr entry) {
  StringRef target = entry.getTarget().getValue();
  tile::StepOp step = program.steps.lookup(target);
  auto holds = [&](auto op) {
    return step && !step.getBody().getOps<decltype(op)>().empty();
  };
  if (entry.getAct() == Act::Op && holds(tile::MmaOp())) {
    return error("no lowering for MMA '" + target + "' outside the loop");
  }
  if (entry.getAct() == Act::Await && !holds(tile::StoreOp())) {
    return error("no lowering for 'await(" + target + ")' outside the loop");
  }
  if (entry.getShift() != 0 && entry.getAct() != Act::Await) {
    return error("no lowering for a shift of '" + target +
                 "' outside the loop");
  }
  return success();
}

LogicalResult RoleBuilder::emitEntries(ArrayRef<EntryAttr> entries) {
  for (EntryAttr entry : entries) {
    if (entry.getAct() == Act::Op && entry.getTarget() == "next") {
      continue; // emitted where the work loop begins
    }
    if (entry.getGuard() != Guard::Always) {
      return error("no lowering for guard '" +
                   stringifyGuard(entry.getGuard()) + "' outside the loop");
    }
    if (failed(checkOutside(entry))) {
      return failure();
    }
    if (failed(emitAct(entry))) {
      return failure();
    }
  }
  return success();
}

LogicalResult RoleBuilder::emitAct(EntryAttr entry) {
  StringRef target = entry.getTarget().getValue();
  switch (entry.getAct()) {
  case Act::Op: {
    if (entry.getSubtile() >= 0) {
      subtile = entry.getSubtile();
    }
    LogicalResult emitted = emitStep(program.steps[target]);
    subtile.reset();
    return emitted;
  }
  case Act::Await: {
    auto step = program.steps[target];
    if (!step.getBody().getOps<tile::StoreOp>().empty()) {
      ws::AwaitStoreOp::create(builder, loc());
      return success();
    }
    ws::AwaitStepOp::create(builder, loc(), symbol(target));
    return success();
  }
  case Act::Sig:
    ws::SignalOp::create(builder, loc(), symbol(target));
    return success();
  case Act::Wait:
    ws::WaitEdgeOp::create(builder, loc(), symbol(target));
    return success();
  case Act::Take:
    ws::TakeOp::create(builder, loc(), symbol(target), replica);
    return success();
  case Act::Give:
    ws::GiveOp::create(builder, loc(), symbol(target), replica);
    return success();
  case Act::Sync:
    ws::SyncOp::create(builder, loc(), symbol(target));
    return success();
  case Act::Get:
  case Act::Put:
  case Act::Commit:
    break;
  }
  return error("no lowering for '" + stringifyAct(entry.getAct()) + "(" +
               target + ")' here");
}
