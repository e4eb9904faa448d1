// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-plan-memory: gives every channel and hold its place in shared memory.
#include "attn/passes/MachineInfo.h"
#include "attn/passes/Passes.h"

namespace attn {
#define GEN_PASS_DEF_PLANMEMORY
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

// Swizzled tiles repeat every 1024 bytes.
constexpr int64_t tileAlignment = 1024;
constexpr int64_t barrierBytes = 8;

int64_t tileBytes(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return llvm::alignTo(tile.getNumElements() * tile.getElementTypeBitWidth() / 8,
                       tileAlignment);
}

int64_t bytesOf(ws::ChannelOp channel) {
  int64_t slot = 0;
  for (Type type : channel.getTypes().getAsValueRange<TypeAttr>()) {
    slot = std::max(slot, tileBytes(type));
  }
  return slot * channel.getDepth();
}
int64_t bytesOf(ws::HoldOp hold) {
  return tileBytes(hold.getType()) * hold.getPieces();
}

class Planner {
public:
  explicit Planner(ws::KernelOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    Builder builder(kernel.getContext());
    int64_t barriers = 0;
    for (Operation &op : kernel.getBody().front()) {
      if (auto channel = dyn_cast<ws::ChannelOp>(op)) {
        if (!channel.getOver()) {
          channel.setOffset(place(channel.getSymName(), bytesOf(channel)));
        }
        barriers += 2 * channel.getDepth();
      } else if (auto hold = dyn_cast<ws::HoldOp>(op); hold && !hold.getOver()) {
        hold.setOffset(place(hold.getSymName(), bytesOf(hold)));
      } else if (isa<ws::EdgeOp>(op)) {
        ++barriers;
      }
    }
    for (Operation &op : kernel.getBody().front()) {
      if (auto hold = dyn_cast<ws::HoldOp>(op);
          hold && hold.getOver() && failed(placeOver(hold))) {
        return failure();
      }
    }
    kernel.setSmemBytes(end);
    return checkLimit(end + barriers * barrierBytes);
  }

private:
  int64_t place(StringRef name, int64_t bytes) {
    int64_t offset = end;
    extents[name] = {offset, bytes};
    end += bytes;
    return offset;
  }

  LogicalResult placeOver(ws::HoldOp hold) {
    auto host = extents.find(*hold.getOver());
    if (host == extents.end()) {
      return hold.emitOpError("attn-plan-memory: expected '")
             << *hold.getOver() << "' to be a place in shared memory";
    }
    auto [offset, bytes] = host->second;
    if (bytesOf(hold) > bytes) {
      return hold.emitOpError("attn-plan-memory: expected at most ")
             << bytes << " bytes over '" << *hold.getOver() << "', got "
             << bytesOf(hold);
    }
    hold.setOffset(offset);
    return success();
  }

  LogicalResult checkLimit(int64_t bytes) {
    FailureOr<MachineInfo> machine = getMachineInfo(
        kernel.getContext(), kernel.getMachine(),
        [&]() { return kernel.emitOpError("attn-plan-memory: "); });
    if (failed(machine)) {
      return failure();
    }
    if (bytes > machine->smemBytes) {
      return kernel.emitOpError("attn-plan-memory: expected at most ")
             << machine->smemBytes << " bytes of shared memory on '"
             << kernel.getMachine() << "', got " << bytes;
    }
    kernel.emitRemark("attn-plan-memory: ") << bytes
                                            << " bytes of shared memory";
    return success();
  }

  ws::KernelOp kernel;
  int64_t end = 0;
  llvm::StringMap<std::pair<int64_t, int64_t>> extents;
};

class PlanMemoryPass : public attn::impl::PlanMemoryBase<PlanMemoryPass> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      if (failed(Planner(kernel).run())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
