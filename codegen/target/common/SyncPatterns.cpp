// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the barrier of the next replica, computed once per role.
static Value nextTurnId(const Arithmetic &emit, const RoleSync &sync,
                        int64_t first) {
  Value next = emit.add(sync.getRole().getBody().getArgument(0), 1);
  Value wraps = emit.isEqual(next, sync.getRole().getReplicas());
  next = arith::SelectOp::create(emit.builder, emit.loc, wraps,
                                 emit.constant(0), next);
  return emit.add(next, first);
}

RoleSync::RoleSync(ws::KernelOp kernel, ws::RoleOp role,
                   const BarrierPlan &plan)
    : kernel(kernel), role(role), plan(plan),
      singleThread(role.isSingleThread()), counters(role) {
  OpBuilder builder(role);
  Arithmetic emit{builder, role.getLoc()};
  role.walk([&](ws::GiveOp op) {
    auto turn = kernel.lookupSymbol<ws::TurnOp>(op.getTurn());
    if (replicasOf(turn.getRing()) > 1 && !nextTurns.contains(op.getTurn())) {
      builder.setInsertionPointToStart(&role.getBody().front());
      nextTurns[op.getTurn()] =
          nextTurnId(emit, *this, plan.named(op.getTurn()));
    }
  });
}

void codegen::roleBarrier(const Arithmetic &emit, const RoleSync &sync) {
  ws::RoleOp role = sync.getRole();
  Value id = emit.add(role.getBody().getArgument(0),
                      sync.getPlan().named(role.getSymName()));
  NVVM::BarrierOp::create(emit.builder, emit.loc, TypeRange{}, id,
                          emit.constant(warpThreads * role.getWarps()), {},
                          Value());
}

void codegen::fenceAsyncProxy(const Arithmetic &emit) {
  MLIRContext *context = emit.builder.getContext();
  NVVM::FenceProxyOp::create(
      emit.builder, emit.loc,
      NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}
