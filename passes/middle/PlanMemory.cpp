// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-plan-memory: assigns shared memory to every channel and hold.
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/ResourcePlan.h"
#include "attn/support/Decision.h"

namespace attn {
#define GEN_PASS_DEF_PLANMEMORY
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

class Planner {
public:
  Planner(ws::KernelOp kernel, MachineAttr machine)
      : kernel(kernel), machine(machine) {}

  LogicalResult run();
  /// Checks the postconditions: every place is within `smem_bytes`, and the
  /// verdict and the mailbox come after the barriers.
  LogicalResult check();

private:
  void forgetPlaces();
  template <typename Op> LogicalResult place(Op op);
  template <typename Op> LogicalResult checkPlace(Op op);
  template <typename Op> LogicalResult checkItems(int64_t alignment);
  LogicalResult checkLimit();

  ws::KernelOp kernel;
  MachineAttr machine;
  ResourcePlan plan;
};

} // namespace

/// Makes a plan that does not depend on an earlier one.
void Planner::forgetPlaces() {
  kernel.removeSmemBytesAttr();
  for (Operation &op : kernel.getBody().front()) {
    TypeSwitch<Operation *>(&op).Case<ws::ChannelOp, ws::HoldOp>(
        [](auto place) { place.removeOffsetAttr(); });
  }
}

template <typename Op> LogicalResult Planner::place(Op op) {
  const ResourcePlan::Allocation *own = plan.findPlace(op.getSymName());
  if (own->offset < 0) {
    return op.emitOpError("attn-plan-memory: expected '")
           << *op.getOver() << "' to be a place in shared memory";
  }
  op.setOffset(own->offset);
  if (!op.getOver()) {
    return success();
  }
  const ResourcePlan::Allocation *host = plan.findPlace(*op.getOver());
  if (op.getBytes() <= host->bytes) {
    return success();
  }
  return op.emitOpError("attn-plan-memory: expected at most ")
         << host->bytes << " bytes over '" << *op.getOver() << "', got "
         << op.getBytes();
}

LogicalResult Planner::run() {
  forgetPlaces();
  plan = ResourcePlan(ResourceNeeds::of(kernel), machine);
  for (Operation &op : kernel.getBody().front()) {
    LogicalResult placed =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<ws::ChannelOp, ws::HoldOp>([&](auto op) { return place(op); })
            .Case([&](ws::VerdictOp op) {
              return op.setOffset(*plan.items.verdict), success();
            })
            .Case([&](ws::MailboxOp op) {
              return op.setOffset(*plan.items.mailbox), success();
            })
            .Default(success());
    if (failed(placed)) {
      return failure();
    }
  }
  kernel.setSmemBytes(plan.placesEnd);
  return checkLimit();
}

LogicalResult Planner::check() {
  for (Operation &op : kernel.getBody().front()) {
    auto channel = dyn_cast<ws::ChannelOp>(op);
    auto hold = dyn_cast<ws::HoldOp>(op);
    if ((channel && failed(checkPlace(channel))) ||
        (hold && failed(checkPlace(hold)))) {
      return failure();
    }
  }
  return success(
      succeeded(checkItems<ws::VerdictOp>(ws::VerdictMemory::alignment)) &&
      succeeded(checkItems<ws::MailboxOp>(ws::MailboxMemory::alignment)));
}

template <typename Op> LogicalResult Planner::checkPlace(Op op) {
  if (op.getOffset() &&
      static_cast<int64_t>(*op.getOffset()) + op.getBytes() <= plan.placesEnd) {
    return success();
  }
  return op.emitOpError("attn-plan-memory: expected a place within ")
         << plan.placesEnd << " bytes of shared memory";
}

template <typename Op> LogicalResult Planner::checkItems(int64_t alignment) {
  for (Op op : kernel.getBody().getOps<Op>()) {
    int64_t begin = op.getOffset().value_or(-1);
    if (begin < plan.barriersEnd || begin % alignment != 0) {
      return op.emitOpError("attn-plan-memory: expected a multiple of ")
             << alignment << " from byte " << plan.barriersEnd << " on, got "
             << begin;
    }
  }
  return success();
}

LogicalResult Planner::checkLimit() {
  if (machine.getBarriers().getBytes() != ws::barrierBytes) {
    return kernel.emitOpError("attn-plan-memory: expected barriers of ")
           << ws::barrierBytes << " bytes, got "
           << machine.getBarriers().getBytes() << " on '" << kernel.getMachine()
           << "'";
  }
  if (plan.end > machine.getSmemLimit()) {
    return kernel.emitOpError("attn-plan-memory: expected at most ")
           << machine.getSmemLimit() << " bytes of shared memory on '"
           << kernel.getMachine() << "', got " << plan.end;
  }
  decided(kernel.getLoc(), "plan-memory")
      << llvm::formatv("{0} bytes of shared memory", plan.end).str();
  return success();
}

namespace {

class PlanMemoryPass : public attn::impl::PlanMemoryBase<PlanMemoryPass> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      FailureOr<MachineAttr> machine =
          lookupMachine(kernel.getContext(), kernel.getMachine(), [&]() {
            return kernel.emitOpError("attn-plan-memory: ");
          });
      if (failed(machine)) {
        return signalPassFailure();
      }
      Planner planner(kernel, *machine);
      if (failed(planner.run()) || failed(planner.check())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
