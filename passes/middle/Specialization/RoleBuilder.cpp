// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleBuilder.h"
#include "LoopBuilder.h"

using namespace mlir;
using namespace attn;
using PlannedAct = sched::PlannedAct;

LogicalResult RoleBuilder::build() {
  OpBuilder &builder = scope.builder;
  auto op = ws::RoleOp::create(builder, scope.loc(), scope.role.getName(),
                               builder.getI64IntegerAttr(scope.role.getWarps()),
                               builder.getI64IntegerAttr(scope.role.getRegs()),
                               builder.getI64IntegerAttr(scope.replicas()));
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, builder.getI32Type(), scope.loc());
  scope.replica = block->getArgument(0);
  return buildWork();
}

bool RoleBuilder::storesTiles() const {
  return llvm::any_of(scope.instance->runs.set_bits(), [&](int step) {
    return scope.program.plan->model.steps[step].holds<tile::StoreOp>();
  });
}

/// Emits how the role gets the work item: from the channel, by taking it for
/// all roles, or by computing it. Returns the remaining acts before the loop.
FailureOr<ArrayRef<PlannedAct>> RoleBuilder::emitItemBegin() {
  KernelProgram &program = scope.program;
  ArrayRef<PlannedAct> before = scope.plan->before;
  if (!program.workChannel) {
    if (failed(steps.emit(program.next))) {
      return failure();
    }
    return before;
  }
  ArrayRef<PlannedAct> begins = scope.plan->itemBegins;
  if (begins.empty()) {
    // Rule V26: handing items out comes first.
    auto made = llvm::find_if(before, [&](const PlannedAct &act) {
      return act.kind == PlannedAct::Run &&
             scope.stepOf(act).op == program.next;
    });
    if (made == before.end()) {
      return scope.error("V26: expected it to get work items or to hand them "
                         "out, got neither");
    }
    begins = before.take_front(made - before.begin() + 1);
    before = before.drop_front(begins.size());
  }
  if (failed(acts.emit(begins))) {
    return failure();
  }
  ws::EndUnlessWorkOp::create(scope.builder, scope.loc(),
                              scope.env.lookup(program.next->getResult(0)));
  return before;
}

/// Emits the body of the loop over work items.
LogicalResult RoleBuilder::buildItem() {
  FailureOr<ArrayRef<PlannedAct>> before = emitItemBegin();
  if (failed(before)) {
    return failure();
  }
  for (Operation &op : scope.program.work.getBody().front()) {
    if (!isa<tile::StepOp, tile::ForOp>(op)) {
      scope.builder.clone(op, scope.env);
    }
  }
  return failure(
      failed(acts.emit(*before)) || failed(LoopBuilder(scope, acts).build()) ||
      failed(acts.emit(scope.plan->after)) ||
      failed(acts.emit(scope.plan->itemEnds)) || failed(steps.checkDone()));
}

LogicalResult RoleBuilder::buildWork() {
  OpBuilder &builder = scope.builder;
  tile::NextWorkOp next = scope.program.nextWork();
  auto work = ws::WorkLoopOp::create(
      builder, scope.loc(), scope.env.lookupOrDefault(next.getBlocks()),
      scope.env.lookupOrDefault(next.getHeads()),
      scope.env.lookupOrDefault(next.getBatches()));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&work.getBody());
  if (failed(buildItem())) {
    return failure();
  }
  // Stores of the last item may still read shared memory.
  if (storesTiles()) {
    builder.setInsertionPointAfter(work);
    ws::AwaitStoreOp::create(builder, scope.loc());
  }
  return success();
}
