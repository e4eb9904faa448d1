// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-warp-specialize: turns one program and its schedule into one program for
// each role, with channels between them.
#include "Specialization/RoleBuilder.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/ResourcePlan.h"
#include "attn/support/Decision.h"

namespace attn {
#define GEN_PASS_DEF_WARPSPECIALIZE
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Declares the places, edges, turns and rendezvous of a schedule.
class Declarer {
public:
  Declarer(KernelProgram &program, OpBuilder &builder)
      : program(program), builder(builder) {}

  void run() {
    for (PlaceAttr place : program.schedule.getPlaces()) {
      if (place.getSpace() == Space::Smem) {
        place.getChannel() ? declareChannel(place) : declareHold(place);
      }
    }
    for (EdgeAttr edge : program.schedule.getEdges()) {
      ws::EdgeOp::create(builder, loc(), edge.getName(),
                         builder.getI64IntegerAttr(edge.getCredits()),
                         unitIf(edge.getScope() == Scope::Cluster));
    }
    for (TurnAttr turn : program.schedule.getTurns()) {
      ws::TurnOp::create(builder, loc(), turn.getName(),
                         FlatSymbolRefAttr::get(turn.getRing()));
    }
    for (SyncAttr sync : program.schedule.getSyncs()) {
      ws::RendezvousOp::create(builder, loc(), sync.getName(),
                               FlatSymbolRefAttr::get(sync.getRing()));
    }
  }

private:
  Location loc() { return program.kernel.getLoc(); }
  UnitAttr unitIf(bool holds) {
    return holds ? builder.getUnitAttr() : UnitAttr();
  }
  /// Returns the host of a place in memory, which has one at most.
  FlatSymbolRefAttr hostOf(PlaceAttr place) {
    return place.getOver().empty()
               ? FlatSymbolRefAttr()
               : FlatSymbolRefAttr::get(place.getOver().front());
  }

  SmallVector<Value> valuesIn(PlaceAttr attr) {
    SmallVector<Value> values;
    for (const sched::Place &place : program.bound().places) {
      for (const auto &cycle : place.cycles) {
        if (place.attr == attr) {
          values.push_back(program.value(cycle.front()).ir);
        }
      }
    }
    return values;
  }

  void declareChannel(PlaceAttr place) {
    SmallVector<Attribute> types;
    if (program.workChannel && place == program.workChannel->attr) {
      types.push_back(
          TypeAttr::get(ws::SlotType::workItemType(builder.getContext())));
    }
    for (Value value : valuesIn(place)) {
      auto tile = dyn_cast<RankedTensorType>(value.getType());
      if (!tile) {
        continue;
      }
      auto type = TypeAttr::get(
          RankedTensorType::get(tile.getShape(), tile.getElementType()));
      if (!llvm::is_contained(types, type)) {
        types.push_back(type);
      }
    }
    ws::ChannelOp::create(
        builder, loc(), place.getName(), builder.getArrayAttr(types),
        builder.getI64IntegerAttr(place.getDepth()),
        unitIf(place.getFullImplied()), unitIf(place.getFreeImplied()),
        unitIf(place.getScope() == Scope::Cluster), hostOf(place),
        /*with=*/FlatSymbolRefAttr(), IntegerAttr());
    declareRows(place);
  }

  /// Declares the channels of the row vectors that share the slots and barriers
  /// of a tile's channel.
  void declareRows(PlaceAttr attr) {
    for (const sched::Place &place : program.bound().places) {
      if (place.attr != attr) {
        continue;
      }
      for (int row : ArrayRef(place.cycles.front()).drop_front()) {
        const sched::KernelValue &value = program.value(row);
        auto type = cast<RankedTensorType>(value.ir.getType());
        ws::ChannelOp::create(
            builder, loc(), builder.getStringAttr(value.name),
            builder.getTypeArrayAttr(
                RankedTensorType::get(type.getShape(), type.getElementType())),
            builder.getI64IntegerAttr(attr.getDepth()), UnitAttr(),
            /*free_implied=*/builder.getUnitAttr(), UnitAttr(),
            /*over=*/FlatSymbolRefAttr(),
            FlatSymbolRefAttr::get(attr.getName()), IntegerAttr());
      }
    }
  }

  /// A hold is memory: its tile has no layout in registers.
  static RankedTensorType pieceTypeOf(Value value) {
    RankedTensorType type = tile::pieceTypeOf(value);
    return value.getType() == type
               ? type
               : RankedTensorType::get(type.getShape(), type.getElementType());
  }

  void declareHold(PlaceAttr place) {
    for (Value value : valuesIn(place)) {
      ws::HoldOp::create(
          builder, loc(), place.getName(), TypeAttr::get(pieceTypeOf(value)),
          builder.getI64IntegerAttr(program.schedule.getSubtiles()),
          builder.getI64IntegerAttr(place.getDepth()), hostOf(place),
          IntegerAttr());
    }
  }

  KernelProgram &program;
  OpBuilder &builder;
};

/// Roles compute the scalars that they need: erases the unused clones.
void eraseDead(ws::KernelOp kernel) {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<Operation *> dead;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == kernel || !isOpTriviallyDead(op)) {
        return WalkResult::advance();
      }
      dead.push_back(op);
      return WalkResult::skip(); // what is within goes with it
    });
    for (Operation *op : llvm::reverse(dead)) {
      if (op->use_empty()) {
        op->erase();
        changed = true;
      }
    }
  }
}

/// Checks the postcondition: roles use only values that they compute, values
/// from channels, and the kernel's scalars.
LogicalResult check(ws::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (kernel.getBody().isAncestor(operand.getParentRegion())) {
        continue;
      }
      auto role = op->getParentOfType<ws::RoleOp>();
      InFlightDiagnostic error =
          op->emitOpError(
              "attn-warp-specialize: V5: expected a value of role '")
          << (role ? role.getSymName() : StringRef("none"))
          << "' or of a channel, got one of another role";
      error.attachNote(operand.getLoc()) << "the value";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void remark(ws::KernelOp kernel) {
  auto count = [&](auto op) {
    return llvm::range_size(kernel.getBody().getOps<decltype(op)>());
  };
  decided(kernel.getLoc(), "warp-specialize")
      << llvm::formatv("{0} roles, {1} channels, {2} holds, {3} edges, {4} "
                       "turns, {5} rendezvous",
                       count(ws::RoleOp()), count(ws::ChannelOp()),
                       count(ws::HoldOp()), count(ws::EdgeOp()),
                       count(ws::TurnOp()), count(ws::RendezvousOp()))
             .str();
}

LogicalResult specialize(tile::KernelOp kernel) {
  KernelProgram program;
  program.kernel = kernel;
  if (failed(program.collect())) {
    return failure();
  }
  OpBuilder builder(kernel);
  auto result = ws::KernelOp::create(
      builder, kernel.getLoc(), kernel.getSymNameAttr(),
      program.schedule.getMachine(), kernel.getArgsAttr(),
      kernel.getProblemAttr(), kernel.getConfigAttr(), kernel.getVariantAttr(),
      kernel.getScheduleAttr(), IntegerAttr());
  result->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  recordConsumed(result, "attn-warp-specialize");
  ResourcePlan resources(ResourceNeeds::of(program.bound()),
                         program.bound().machine);
  result->setAttr(kResourcesAttr, resources.describe(kernel.getContext()));
  Block *block = builder.createBlock(&result.getBody());
  IRMapping env;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    env.map(argument,
            block->addArgument(argument.getType(), argument.getLoc()));
  }
  Declarer(program, builder).run();
  for (Operation &op : kernel.getBody().front()) {
    if (!isa<tile::WorkOp>(op)) {
      builder.clone(op, env);
    }
  }
  for (RoleAttr role : program.schedule.getRoles()) {
    if (failed(RoleBuilder(program, role, builder, env).build())) {
      result.erase();
      return failure();
    }
    builder.setInsertionPointToEnd(block);
  }
  eraseDead(result);
  if (failed(check(result))) {
    result.erase();
    return failure();
  }
  remark(result);
  kernel.erase();
  return success();
}

class WarpSpecializePass
    : public attn::impl::WarpSpecializeBase<WarpSpecializePass> {
public:
  using WarpSpecializeBase::WarpSpecializeBase;

  void runOnOperation() override {
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      if (!kernel.getSchedule() || !kernel.getConfig()) {
        kernel.emitOpError("attn-warp-specialize: expected a config and a "
                           "schedule, got none");
        return signalPassFailure();
      }
      if (failed(specialize(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
