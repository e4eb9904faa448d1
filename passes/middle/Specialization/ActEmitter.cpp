// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ActEmitter.h"

using namespace mlir;
using namespace attn;
using sched::SlotRef;
using PlannedAct = sched::PlannedAct;

LogicalResult ActEmitter::emit(ArrayRef<PlannedAct> acts) {
  for (const PlannedAct &act : acts) {
    if (failed(emit(act))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ActEmitter::emitRun(const PlannedAct &act) {
  std::optional<int64_t> subtile;
  if (act.entry->attr.getSubtile() >= 0) {
    subtile = act.subtile;
  }
  if (failed(steps.emit(scope.stepOf(act).op, subtile))) {
    return failure();
  }
  for (const SlotRef &slot : act.releases) {
    if (failed(emitRelease(slot))) {
      return failure();
    }
  }
  return success();
}

void ActEmitter::emitWait(const SlotRef &slot) {
  for (Value value : scope.valuesIn(slot)) {
    Value full =
        ws::WaitOp::create(builder, scope.loc(), scope.slotType(value));
    if (isa<tile::WorkType>(value.getType())) {
      item = full;
    } else {
      env.map(value, full);
    }
  }
}

void ActEmitter::emitReadItem(const SlotRef &slot) {
  Value value = scope.valueIn(slot);
  env.map(value,
          ws::GetWorkOp::create(builder, scope.loc(), value.getType(), item));
}

LogicalResult ActEmitter::emitRelease(const SlotRef &slot) {
  // The tile comes last: its barrier frees all of them.
  for (Value value : llvm::reverse(scope.valuesIn(slot))) {
    Value waited =
        isa<tile::WorkType>(value.getType()) ? item : env.lookupOrNull(value);
    if (!waited) {
      return scope.error("V8: expected a wait for '" +
                         scope.program.bound().places[slot.place].name +
                         "' before its release");
    }
    ws::ReleaseOp::create(builder, scope.loc(), waited);
  }
  return success();
}

/// Emits a signal of an edge or a wait for one, or takes or gives a turn.
void ActEmitter::emitSignal(const PlannedAct &act) {
  FlatSymbolRefAttr name = scope.symbol(act.entry->attr.getTarget().getValue());
  switch (act.entry->attr.getAct()) {
  case Act::Take:
    ws::TakeOp::create(builder, scope.loc(), name, scope.replica);
    return;
  case Act::Give:
    ws::GiveOp::create(builder, scope.loc(), name, scope.replica);
    return;
  case Act::Sig:
    ws::SignalOp::create(builder, scope.loc(), name);
    return;
  default:
    ws::WaitEdgeOp::create(builder, scope.loc(), name);
  }
}

/// Asks for the work item after the current one.
void ActEmitter::emitFetch() {
  ws::FetchWorkOp::create(builder, scope.loc(),
                          env.lookup(scope.program.next->getResult(0)));
}

void ActEmitter::emitAwaitOfStore(const sched::KernelStep &step) {
  const sched::BoundSchedule &bound = scope.program.bound();
  bool addsHold =
      step.holds<tile::ReduceAddOp>() &&
      llvm::any_of(step.reads, [&](int value) { return bound.holdOf(value); });
  if (addsHold || step.holds<tile::StoreOp>()) {
    bool ofWarp = addsHold && !bound.isOfOneThread(*scope.instance);
    ws::AwaitStoreOp::create(builder, scope.loc(), ofWarp);
  }
}

LogicalResult ActEmitter::emit(const PlannedAct &act) {
  switch (act.kind) {
  case PlannedAct::Run:
    return emitRun(act);
  case PlannedAct::Wait:
    emitWait(act.slot);
    return success();
  case PlannedAct::ReadItem:
    emitReadItem(act.slot);
    return success();
  case PlannedAct::ReadRow:
    steps.readAhead(scope.program.value(act.target).ir);
    return success();
  case PlannedAct::Release:
    return emitRelease(act.slot);
  case PlannedAct::Await:
    // Products are awaited only in the loop. Other asynchronous ops end with
    // their step: loads into registers where the values are read, sums into
    // memory from registers when they are issued.
    emitAwaitOfStore(scope.stepOf(act));
    return success();
  case PlannedAct::Signal:
  case PlannedAct::WaitEdge:
    emitSignal(act);
    return success();
  case PlannedAct::Meet:
    ws::SyncOp::create(builder, scope.loc(),
                       scope.symbol(act.entry->attr.getTarget().getValue()));
    return success();
  case PlannedAct::FetchItem:
    emitFetch();
    return success();
  case PlannedAct::Acquire:
    steps.acquire(act.slot);
    return success();
  case PlannedAct::AwaitFirstRun:
    steps.awaitFirstRun(scope.stepOf(act).op);
    return success();
  case PlannedAct::Put:
  case PlannedAct::Commit:
  case PlannedAct::AwaitProducts:
    break;
  }
  return scope.error("expected no act 'put' or 'commit', and no await of MMAs "
                     "outside the loop, got one");
}
