// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-plan-memory: assigns shared memory to every channel and hold.
#include "attn/dialect/ItemMemory.h"
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/DataTables.h"
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
  explicit Planner(ws::KernelOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    int64_t barriers = 0;
    SmallVector<ws::ChannelOp> small; // after the tiles, which are aligned
    for (Operation &op : kernel.getBody().front()) {
      if (auto channel = dyn_cast<ws::ChannelOp>(op)) {
        if (channel.carriesWork()) {
          small.push_back(channel);
        } else {
          place(channel);
        }
        barriers += 2 * channel.getDepth();
      } else if (auto hold = dyn_cast<ws::HoldOp>(op)) {
        place(hold);
      } else if (isa<ws::EdgeOp>(op)) {
        ++barriers;
      }
    }
    for (ws::ChannelOp channel : small) {
      place(channel);
    }
    for (Operation &op : kernel.getBody().front()) {
      auto channel = dyn_cast<ws::ChannelOp>(op);
      auto hold = dyn_cast<ws::HoldOp>(op);
      if ((channel && failed(placeOver(channel))) ||
          (hold && failed(placeOver(hold)))) {
        return failure();
      }
    }
    kernel.setSmemBytes(end);
    barriersEnd = end + barriers * ws::barrierBytes;
    return checkLimit(placeItems());
  }

  /// Checks the postconditions: every place is within `smem_bytes`, and the
  /// verdict and the mailbox come after the barriers.
  LogicalResult check() {
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

private:
  template <typename Op> void place(Op op) {
    if (op.getOver()) {
      return;
    }
    op.setOffset(end);
    extents[op.getSymName()] = {end, op.getBytes()};
    end += op.getBytes();
  }

  /// Places the verdict and the mailbox after the barriers; returns the first
  /// byte after them.
  int64_t placeItems() {
    auto verdicts = kernel.getBody().getOps<ws::VerdictOp>();
    auto mailboxes = kernel.getBody().getOps<ws::MailboxOp>();
    ws::ItemMemory memory(barriersEnd, !verdicts.empty(), !mailboxes.empty());
    for (ws::VerdictOp verdict : verdicts) {
      verdict.setOffset(memory.verdict);
    }
    for (ws::MailboxOp mailbox : mailboxes) {
      mailbox.setOffset(memory.mailbox);
    }
    return memory.end;
  }

  template <typename Op> LogicalResult placeOver(Op op) {
    if (!op.getOver()) {
      return success();
    }
    auto host = extents.find(*op.getOver());
    if (host == extents.end()) {
      return op.emitOpError("attn-plan-memory: expected '")
             << *op.getOver() << "' to be a place in shared memory";
    }
    auto [offset, bytes] = host->second;
    if (op.getBytes() > bytes) {
      return op.emitOpError("attn-plan-memory: expected at most ")
             << bytes << " bytes over '" << *op.getOver() << "', got "
             << op.getBytes();
    }
    op.setOffset(offset);
    extents[op.getSymName()] = {offset, op.getBytes()};
    return success();
  }

  template <typename Op> LogicalResult checkPlace(Op op) {
    if (op.getOffset() &&
        static_cast<int64_t>(*op.getOffset()) + op.getBytes() <= end) {
      return success();
    }
    return op.emitOpError("attn-plan-memory: expected a place within ")
           << end << " bytes of shared memory";
  }

  template <typename Op> LogicalResult checkItems(int64_t alignment) {
    for (Op op : kernel.getBody().getOps<Op>()) {
      int64_t begin = op.getOffset().value_or(-1);
      if (begin < barriersEnd || begin % alignment != 0) {
        return op.emitOpError("attn-plan-memory: expected a multiple of ")
               << alignment << " from byte " << barriersEnd << " on, got "
               << begin;
      }
    }
    return success();
  }

  LogicalResult checkLimit(int64_t bytes) {
    FailureOr<MachineAttr> machine =
        lookupMachine(kernel.getContext(), kernel.getMachine(), [&]() {
          return kernel.emitOpError("attn-plan-memory: ");
        });
    if (failed(machine)) {
      return failure();
    }
    if (machine->getBarriers().getBytes() != ws::barrierBytes) {
      return kernel.emitOpError("attn-plan-memory: expected barriers of ")
             << ws::barrierBytes << " bytes, got "
             << machine->getBarriers().getBytes() << " on '"
             << kernel.getMachine() << "'";
    }
    if (bytes > machine->getSmemLimit()) {
      return kernel.emitOpError("attn-plan-memory: expected at most ")
             << machine->getSmemLimit() << " bytes of shared memory on '"
             << kernel.getMachine() << "', got " << bytes;
    }
    decided(kernel.getLoc(), "plan-memory")
        << llvm::formatv("{0} bytes of shared memory", bytes).str();
    return success();
  }

  ws::KernelOp kernel;
  int64_t end = 0, barriersEnd = 0;
  llvm::StringMap<std::pair<int64_t, int64_t>> extents;
};

class PlanMemoryPass : public attn::impl::PlanMemoryBase<PlanMemoryPass> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      Planner planner(kernel);
      if (failed(planner.run()) || failed(planner.check())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
