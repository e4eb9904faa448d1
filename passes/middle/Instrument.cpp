// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-instrument: puts stamps where a role begins to wait, to issue or to
// compute.
#include "attn/dialect/Launch.h"
#include "attn/dialect/LaunchName.h"
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/ResourcePlan.h"
#include "attn/support/Decision.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_INSTRUMENT
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

struct Stamp {
  ws::Activity activity;
  StringRef object;
};

StringRef channelName(Value slot) {
  return cast<ws::SlotType>(slot.getType()).getChannel().getValue();
}

/// Returns the activity of an op in a picture, if it has one.
std::optional<Stamp> stampOf(Operation *op) {
  using ws::Activity;
  using Result = std::optional<Stamp>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([](ws::AcquireOp op) -> Result {
        return Stamp{Activity::Acquire, channelName(op.getSlot())};
      })
      .Case([](ws::WaitOp op) -> Result {
        return Stamp{Activity::Wait, channelName(op.getSlot())};
      })
      .Case([](ws::WaitEdgeOp op) -> Result {
        return Stamp{Activity::WaitEdge, op.getEdge()};
      })
      .Case([](ws::TakeOp op) -> Result {
        return Stamp{Activity::Take, op.getTurn()};
      })
      .Case([](ws::SyncOp op) -> Result {
        return Stamp{Activity::Sync, op.getRendezvous()};
      })
      .Case([](ws::CopyOp op) -> Result {
        return Stamp{Activity::Copy, channelName(op.getSlot())};
      })
      .Case([](ws::MmaOp op) -> Result {
        return Stamp{Activity::Mma, channelName(op.getB())};
      })
      .Case([](ws::AwaitOp op) -> Result {
        auto mma = op.getToken().getDefiningOp<ws::MmaOp>();
        return Stamp{Activity::Await, mma ? channelName(mma.getB()) : ""};
      })
      .Case<ws::StoreOp, ws::ReduceAddOp>([](auto op) -> Result {
        return Stamp{Activity::Store, op.getHold()};
      })
      .Case([](ws::AwaitStoreOp) -> Result {
        return Stamp{Activity::AwaitStore, ""};
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

/// Ops that take almost no time: scalars, and messages to other roles.
bool isShort(Operation *op) {
  if (isa<ws::ReleaseOp, ws::GiveOp, ws::SignalOp, tile::ConvertLayoutOp>(op)) {
    return true;
  }
  bool isTile = llvm::any_of(op->getResultTypes(),
                             [](Type type) { return isa<ShapedType>(type); });
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isTile &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

/// Whether a stamp comes before the next op of this block that takes time.
bool leadsToStamp(Operation *op) {
  Operation *next = op->getNextNode();
  while (next && isShort(next)) {
    next = next->getNextNode();
  }
  return isa_and_nonnull<ws::StampOp>(next);
}

class Instrumenter {
public:
  explicit Instrumenter(ws::KernelOp kernel) : kernel(kernel) {}

  LogicalResult run(int64_t events, int64_t ctas, ArrayRef<std::string> roles);

private:
  LogicalResult checkRoles(ArrayRef<std::string> roles);
  void insert(OpBuilder &builder, Location loc, Stamp stamp) {
    StringAttr object = stamp.object.empty()
                            ? StringAttr()
                            : builder.getStringAttr(stamp.object);
    ws::StampOp::create(builder, loc, stamp.activity, object);
    ++count;
  }
  void stampRole(ws::RoleOp role);
  LogicalResult planStamps();

  ws::KernelOp kernel;
  int64_t count = 0;
};

void Instrumenter::stampRole(ws::RoleOp role) {
  SmallVector<Operation *> ops;
  role.walk([&](Operation *op) {
    if (stampOf(op)) {
      ops.push_back(op);
    }
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    insert(builder, op->getLoc(), *stampOf(op));
  }
  for (Operation *op : ops) {
    if (!leadsToStamp(op)) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      insert(builder, op->getLoc(), {ws::Activity::Run, ""});
    }
  }
  role.walk([&](ws::WorkLoopOp loop) {
    OpBuilder builder = OpBuilder::atBlockBegin(&loop.getBody().front());
    insert(builder, loop.getLoc(), {ws::Activity::Item, ""});
  });
}

LogicalResult Instrumenter::checkRoles(ArrayRef<std::string> roles) {
  for (const std::string &name : roles) {
    if (!kernel.lookupSymbol<ws::RoleOp>(name)) {
      return kernel.emitOpError("attn-instrument: expected 'roles' to name "
                                "roles of the kernel, got '")
             << name << "'";
    }
  }
  return success();
}

/// Adds the words of the stamps to the plan that the kernel carries.
LogicalResult Instrumenter::planStamps() {
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(),
                    [&] { return kernel.emitOpError("attn-instrument: "); });
  if (failed(machine)) {
    return failure();
  }
  ResourcePlan plan(ResourceNeeds::of(kernel), *machine);
  if (plan.end > machine->getSmemLimit()) {
    return kernel.emitOpError("attn-instrument: expected at most ")
           << machine->getSmemLimit()
           << " bytes of shared memory with stamps, got " << plan.end;
  }
  auto carried = kernel->getAttrOfType<DictionaryAttr>(kResourcesAttr);
  auto bytes =
      carried ? carried.getAs<IntegerAttr>(kSharedMemory) : IntegerAttr();
  if (bytes) {
    NamedAttrList with(carried);
    with.set(kSharedMemory, IntegerAttr::get(bytes.getType(),
                                             bytes.getInt() + plan.stampBytes));
    kernel->setAttr(kResourcesAttr, with.getDictionary(kernel.getContext()));
  }
  return success();
}

LogicalResult Instrumenter::run(int64_t events, int64_t ctas,
                                ArrayRef<std::string> names) {
  auto unexpanded = kernel.walk([&](ws::ForOp loop) {
    loop.emitOpError("attn-instrument: expected the loop to be expanded");
    return WalkResult::interrupt();
  });
  if (unexpanded.wasInterrupted() || failed(checkRoles(names))) {
    return failure();
  }
  auto roles = kernel.getBody().getOps<ws::RoleOp>();
  OpBuilder builder(*roles.begin());
  ws::StampsOp::create(builder, kernel.getLoc(), events, ctas);
  if (failed(planStamps())) {
    return failure();
  }
  for (ws::RoleOp role : roles) {
    if (names.empty() || llvm::is_contained(names, role.getSymName())) {
      stampRole(role);
    }
  }
  decided(kernel.getLoc(), "instrument")
      << llvm::formatv("{0} stamps, {1} events of {2} CTAs and the last", count,
                       events, ctas)
             .str();
  return success();
}

/// Returns the launches of calls with several that record nothing: each but
/// the first of those with the most replicas of roles. The stamps of two would
/// lie at the same bytes of the workspace.
llvm::StringSet<> findSilentLaunches(ModuleOp module) {
  llvm::StringMap<int64_t> replicas;
  for (auto kernel : module.getOps<ws::KernelOp>()) {
    int64_t &most = replicas[ws::launchNameOf(kernel)];
    most = std::max(most, ResourceNeeds::of(kernel).replicas());
  }
  llvm::StringSet<> silent;
  for (auto sequence : module.getOps<launch::SequenceOp>()) {
    auto names =
        llvm::to_vector(sequence.getLaunches().getAsValueRange<StringAttr>());
    auto *most = llvm::max_element(names, [&](StringRef a, StringRef b) {
      return replicas.lookup(a) < replicas.lookup(b);
    });
    for (StringRef &name : names) {
      if (&name != most) {
        silent.insert(name);
      }
    }
  }
  return silent;
}

class InstrumentPass : public attn::impl::InstrumentBase<InstrumentPass> {
public:
  using InstrumentBase::InstrumentBase;

  void runOnOperation() override {
    if (events < 1 || events > 1048576 || ctas < 1 || ctas > 64) {
      emitError(getOperation().getLoc(),
                "attn-instrument: expected 'events' from 1 to 1048576 and "
                "'ctas' from 1 to 64, got ")
          << int64_t(events) << " and " << int64_t(ctas);
      return signalPassFailure();
    }
    SmallVector<std::string> names(roles.begin(), roles.end());
    llvm::StringSet<> silent = findSilentLaunches(getOperation());
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      bool hasStamps = !kernel.getBody().getOps<ws::StampsOp>().empty();
      // Channels that are already lowered to barriers cannot be recognized.
      bool isLowered = !kernel.getBody().getOps<ws::SetupOp>().empty();
      if (hasStamps || isLowered || silent.contains(ws::launchNameOf(kernel))) {
        continue;
      }
      if (failed(Instrumenter(kernel).run(events, ctas, names))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
