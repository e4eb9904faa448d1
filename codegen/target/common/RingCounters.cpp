// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RingCounters.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the ring that the op waits for or puts into, or an empty string.
static StringRef ringOf(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<ws::AcquireOp, ws::WaitOp>([](auto op) {
        // A channel `with` another counts no cycles of its own.
        StringRef name = op.getSlot().getType().getChannel().getValue();
        auto kernel = op->template getParentOfType<ws::KernelOp>();
        return kernel.template lookupSymbol<ws::ChannelOp>(name).getWith()
                   ? StringRef()
                   : name;
      })
      .Case([](ws::WaitEdgeOp op) { return op.getEdge(); })
      .Case([](ws::PutOp op) {
        auto kernel = op->getParentOfType<ws::KernelOp>();
        auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
        return hold.getDepth() > 1 ? op.getHold() : StringRef();
      })
      .Default(StringRef());
}

RingCounters::RingCounters(ws::RoleOp role) {
  OpBuilder builder(role);
  Arithmetic emit{builder, role.getLoc()};
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  role.walk([&](Operation *op) {
    StringRef name = ringOf(op);
    if (name.empty() || counters.contains(name)) {
      return;
    }
    builder.setInsertionPointToStart(&role.getBody().front());
    Value one = emit.constant(1), zero = emit.constant(0);
    auto variable = [&] {
      return LLVM::AllocaOp::create(builder, emit.loc, ptr,
                                    builder.getI32Type(), one)
          .getResult();
    };
    Value slot = variable(), parity = variable();
    LLVM::StoreOp::create(builder, emit.loc, zero, slot);
    LLVM::StoreOp::create(builder, emit.loc, zero, parity);
    counters[name] = {slot, parity};
  });
}

RingCounters::Cycle RingCounters::currentCycle(const Arithmetic &emit,
                                               StringRef name,
                                               int64_t depth) const {
  auto load = [&](Value variable) -> Value {
    return LLVM::LoadOp::create(emit.builder, emit.loc,
                                emit.builder.getI32Type(), variable);
  };
  Counter counter = counters.lookup(name);
  Value parity = load(counter.parity);
  return {depth == 1 ? emit.constant(0) : load(counter.slot), parity};
}

void RingCounters::moveOn(const Arithmetic &emit, StringRef name, int64_t depth,
                          Cycle cycle) const {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  Counter counter = counters.lookup(name);
  if (depth == 1) {
    Value flipped =
        arith::XOrIOp::create(builder, loc, cycle.parity, emit.constant(1));
    LLVM::StoreOp::create(builder, loc, flipped, counter.parity);
    return;
  }
  Value next = emit.add(cycle.slot, 1);
  Value wraps = emit.isEqual(next, depth);
  Value wrapped =
      arith::SelectOp::create(builder, loc, wraps, emit.constant(0), next);
  Value bit = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), wraps);
  Value flipped = arith::XOrIOp::create(builder, loc, cycle.parity, bit);
  LLVM::StoreOp::create(builder, loc, wrapped, counter.slot);
  LLVM::StoreOp::create(builder, loc, flipped, counter.parity);
}
