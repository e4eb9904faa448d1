// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleBuilder.h"
#include "attn/dialect/ItemMemory.h"

using namespace mlir;
using namespace attn;
using sched::SlotRef;

RoleBuilder::RoleBuilder(KernelProgram &program, RoleAttr role,
                         OpBuilder &builder, const IRMapping &outer)
    : program(program), role(role), builder(builder), env(outer) {
  const sched::BoundSchedule &bound = program.bound();
  for (auto [i, candidate] : llvm::enumerate(bound.instances)) {
    if (!instance &&
        bound.roles[candidate.role].name == role.getName().getValue()) {
      instance = &candidate;
      plan = &bound.plans[i];
    }
  }
}

LogicalResult RoleBuilder::build() {
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

bool RoleBuilder::storesTiles() const {
  return llvm::any_of(instance->runs.set_bits(), [&](int step) {
    return program.plan->model.steps[step].engine == sched::Engine::Store;
  });
}

LogicalResult RoleBuilder::buildWork() {
  nextWork = *program.next.getBody().getOps<tile::NextWorkOp>().begin();
  auto work = ws::WorkLoopOp::create(
      builder, loc(), env.lookupOrDefault(nextWork.getBlocks()),
      env.lookupOrDefault(nextWork.getHeads()),
      env.lookupOrDefault(nextWork.getBatches()),
      ws::mayReject(program.work) ? builder.getUnitAttr() : UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&work.getBody());
  if (failed(emitNext())) {
    return failure();
  }
  for (Operation &op : program.work.getBody().front()) {
    if (!isa<tile::StepOp, tile::ForOp>(op)) {
      builder.clone(op, env);
    }
  }
  if (failed(emitActs(plan->before)) || failed(buildLoop()) ||
      failed(emitActs(plan->after)) || failed(emitActs(plan->itemEnds))) {
    return failure();
  }
  // Stores of the last item still read shared memory.
  if (storesTiles()) {
    builder.setInsertionPointAfter(work);
    ws::AwaitStoreOp::create(builder, loc());
  }
  return success();
}

/// Emits acts one after the other. The step that makes work items has been
/// emitted where the item begins.
LogicalResult RoleBuilder::emitActs(const Acts &acts) {
  for (const Act &act : acts) {
    bool isNext =
        act.entry && act.entry->act == attn::Act::Op &&
        program.plan->model.steps[act.entry->target].op == program.next;
    if (!isNext && failed(emitAct(act))) {
      return failure();
    }
  }
  return success();
}

void RoleBuilder::emitWait(const SlotRef &slot) {
  Value value = valueIn(slot);
  env.map(value, ws::WaitOp::create(builder, loc(), slotType(value)));
}

LogicalResult RoleBuilder::emitRelease(const SlotRef &slot) {
  Value waited = env.lookupOrNull(valueIn(slot));
  if (!waited) {
    return error("V8: expected a wait for '" +
                 program.bound().places[slot.place].name +
                 "' before its release");
  }
  ws::ReleaseOp::create(builder, loc(), waited);
  return success();
}

/// Emits a signal of an edge or a wait for one, or the giving or taking of a
/// turn.
void RoleBuilder::emitSignal(const Act &act) {
  FlatSymbolRefAttr name = symbol(act.entry->attr.getTarget().getValue());
  switch (act.entry->attr.getAct()) {
  case attn::Act::Take:
    ws::TakeOp::create(builder, loc(), name, replica);
    return;
  case attn::Act::Give:
    ws::GiveOp::create(builder, loc(), name, replica);
    return;
  case attn::Act::Sig:
    ws::SignalOp::create(builder, loc(), name);
    return;
  default:
    ws::WaitEdgeOp::create(builder, loc(), name);
  }
}

LogicalResult RoleBuilder::emitAct(const Act &act) {
  switch (act.kind) {
  case Act::Run: {
    if (act.entry->attr.getSubtile() >= 0) {
      subtile = act.subtile;
    }
    LogicalResult emitted = emitStep(stepOf(act).op);
    subtile.reset();
    for (const SlotRef &slot : act.releases) {
      emitted = failure(failed(emitted) || failed(emitRelease(slot)));
    }
    return emitted;
  }
  case Act::Wait:
    emitWait(act.slot);
    return success();
  case Act::Release:
    return emitRelease(act.slot);
  case Act::Await:
    // Products are awaited in the loop alone; loads into registers where they
    // are read.
    if (stepOf(act).engine == sched::Engine::Store) {
      ws::AwaitStoreOp::create(builder, loc());
    }
    return success();
  case Act::Signal:
  case Act::WaitEdge:
    emitSignal(act);
    return success();
  case Act::Meet:
    ws::SyncOp::create(builder, loc(),
                       symbol(act.entry->attr.getTarget().getValue()));
    return success();
  case Act::FetchItem:
    emitFetch();
    return success();
  case Act::Acquire: // The step that fills the slot acquires it.
    return success();
  case Act::Put:
  case Act::Commit:
  case Act::AwaitProducts:
  case Act::ReadItem:
    break;
  }
  return error("expected an act that the machine lowers, got another");
}
