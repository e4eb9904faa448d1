// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelChecks.h"
#include "HoldPatterns.h"
#include "SyncPatterns.h"
#include "Target.h"
#include "attn/codegen/launch/LaunchShape.h"

using namespace mlir;
using namespace attn;

namespace {

constexpr StringLiteral lowerChannels = "attn-lower-channels: ";
constexpr StringLiteral verifyChannels = "attn-verify-channels: ";
constexpr StringLiteral lowerToNVVM = "attn-lower-to-nvvm: ";

InFlightDiagnostic error(Operation *op, StringRef pass) {
  return op->emitOpError(pass);
}

/// Checks every op of a kernel, outermost first.
LogicalResult checkEach(Operation *root,
                        function_ref<LogicalResult(Operation *)> check) {
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Channels.
//===----------------------------------------------------------------------===//

LogicalResult checkPlaces(ws::KernelOp kernel, StringRef pass) {
  if (!kernel.getSmemBytes()) {
    return error(kernel, pass) << "expected planned shared memory, got none";
  }
  for (Operation &op : kernel.getBody().front()) {
    auto channel = dyn_cast<ws::ChannelOp>(op);
    auto hold = dyn_cast<ws::HoldOp>(op);
    auto verdict = dyn_cast<ws::VerdictOp>(op);
    auto mailbox = dyn_cast<ws::MailboxOp>(op);
    if ((channel && !channel.getOffset()) || (hold && !hold.getOffset()) ||
        (verdict && !verdict.getOffset()) ||
        (mailbox && !mailbox.getOffset())) {
      return error(&op, pass) << "expected a place in shared memory, got none";
    }
  }
  return success();
}

/// Checks that slots come from acquire, wait and held, or through loops and
/// branches.
LogicalResult checkSlots(Operation *op) {
  for (Value result : op->getResults()) {
    if (isa<ws::SlotType>(result.getType()) &&
        !isa<ws::AcquireOp, ws::WaitOp, ws::HeldOp, scf::ForOp, scf::IfOp>(
            op)) {
      return error(op, lowerChannels)
             << "no lowering for a slot that '" << op->getName() << "' makes";
    }
  }
  Value filled = TypeSwitch<Operation *, Value>(op)
                     .Case<ws::CopyOp, ws::PutWorkOp>(
                         [](auto fill) { return fill.getSlot(); })
                     .Default(Value());
  if (filled && !filled.getDefiningOp<ws::AcquireOp>()) {
    return error(op, lowerChannels)
           << "expected a slot that 'ws.acquire' gives, got another";
  }
  return success();
}

/// Returns the channel whose slot the op acquires or waits for, or null.
ws::ChannelOp enteredBy(Operation *op) {
  Value slot = TypeSwitch<Operation *, Value>(op)
                   .Case<ws::AcquireOp, ws::WaitOp>(
                       [](auto enter) { return enter.getSlot(); })
                   .Default(Value());
  return slot ? op->getParentOfType<ws::KernelOp>().lookupSymbol<ws::ChannelOp>(
                    cast<ws::SlotType>(slot.getType()).getChannel())
              : ws::ChannelOp();
}

/// Checks that the slot of a channel `with` another is entered after that of
/// the same cycle there, in its block.
LogicalResult checkEnteredWith(Operation *op) {
  ws::ChannelOp channel = enteredBy(op);
  if (!channel || !channel.getWith()) {
    return success();
  }
  for (Operation *last = op->getPrevNode(); last; last = last->getPrevNode()) {
    ws::ChannelOp other = enteredBy(last);
    if (other && other.getSymName() == *channel.getWith() &&
        last->getName() == op->getName()) {
      return success();
    }
    if (other == channel) {
      break;
    }
  }
  return error(op, lowerChannels)
         << "expected a '" << op->getName() << "' of " << channel.getWithAttr()
         << " before it, for the same cycle, got none";
}

/// A single thread cannot meet others.
LogicalResult checkMeetings(Operation *op) {
  auto role = op->getParentOfType<ws::RoleOp>();
  if (!role ||
      !isa<ws::TakeOp, ws::GiveOp, ws::SyncOp, ws::GiveVerdictOp>(op) ||
      !role.isSingleThread()) {
    return success();
  }
  return error(op, lowerChannels)
         << "no lowering in role '" << role.getSymName()
         << "', which one thread runs";
}

LogicalResult checkAwaitedStores(Operation *op) {
  auto role = op->getParentOfType<ws::RoleOp>();
  auto await = dyn_cast<ws::AwaitStoreOp>(op);
  if (!role || !await) {
    return success();
  }
  bool stores = false;
  role.walk([&](Operation *other) {
    stores |= isa<ws::ReduceAddOp>(other)
                  ? await.getOfWarp() || role.isSingleThread()
                  : isa<ws::StoreOp>(other) && !await.getOfWarp();
  });
  if (stores) {
    return success();
  }
  return error(op, lowerChannels)
         << "expected a '"
         << (await.getOfWarp() ? ws::ReduceAddOp::getOperationName()
                               : ws::StoreOp::getOperationName())
         << "' in role '" << role.getSymName() << "', got none";
}

/// Checks that operands of a matrix instruction are not released before its
/// await.
LogicalResult checkOperands(Operation *op) {
  auto mma = dyn_cast<ws::MmaOp>(op);
  if (!mma) {
    return success();
  }
  Operation *await = *mma.getToken().user_begin();
  for (Operation *between = mma->getNextNode(); between != await;
       between = between->getNextNode()) {
    WalkResult overwritten = between->walk([&](ws::PutOp put) {
      if (!codegen::overwritesOperand(put, mma)) {
        return WalkResult::advance();
      }
      InFlightDiagnostic diagnostic =
          error(put, lowerChannels)
          << "expected the 'ws.mma' that reads there to be awaited before "
          << put.getHoldAttr() << " is written, got one in flight";
      diagnostic.attachNote(mma.getLoc()) << "the 'ws.mma'";
      return WalkResult::interrupt();
    });
    if (overwritten.wasInterrupted()) {
      return failure();
    }
  }
  return success();
}

/// Checks that each warp of a role that may reject an item gives one verdict on
/// it, and that there is such a role.
LogicalResult checkVerdicts(ws::KernelOp kernel) {
  auto declared = kernel.getBody().getOps<ws::VerdictOp>();
  if (declared.empty()) {
    return success();
  }
  bool given = false;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    int64_t verdicts = 0;
    role.walk([&](ws::GiveVerdictOp) { ++verdicts; });
    if (verdicts > 1) {
      return error(role, lowerChannels)
             << "expected at most one 'ws.give_verdict' in role '"
             << role.getSymName() << "', got " << verdicts;
    }
    given |= verdicts == 1;
  }
  if (!given) {
    return error(*declared.begin(), lowerChannels)
           << "expected a 'ws.give_verdict' for it, got none";
  }
  return success();
}

/// Checks that verdicts reject the items.
LogicalResult checkVerdictGiven(Operation *op) {
  if (isa<tile::RejectOp>(op)) {
    return error(op, lowerChannels)
           << "expected a 'ws.give_verdict' (attn-hand-out)";
  }
  return success();
}

/// Checks that one role fills a channel: its full barrier expects one arrival.
LogicalResult checkProducers(ws::KernelOp kernel) {
  llvm::MapVector<Attribute, ws::RoleOp> producers;
  return checkEach(kernel, [&](Operation *op) -> LogicalResult {
    auto acquire = dyn_cast<ws::AcquireOp>(op);
    auto role = op->getParentOfType<ws::RoleOp>();
    if (!acquire || !role) {
      return success();
    }
    Attribute channel = acquire.getSlot().getType().getChannel();
    ws::RoleOp first = producers.insert({channel, role}).first->second;
    if (first != role) {
      return error(op, lowerChannels)
             << "expected one role to fill " << channel << ", got '"
             << first.getSymName() << "' and '" << role.getSymName() << "'";
    }
    if (!role.isSingleThread() || role.getReplicas() != 1) {
      return error(op, lowerChannels)
             << "expected one thread to fill " << channel << ", got role '"
             << role.getSymName() << "' of " << role.getReplicas() << " x "
             << role.getWarps() << " warps";
    }
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Instructions.
//===----------------------------------------------------------------------===//

LogicalResult checkDeclarations(ws::KernelOp kernel,
                                const codegen::Target &chip) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()) &&
        !argument.getType().isF32() && !argument.getType().isInteger(32) &&
        !argument.getType().isInteger(64)) {
      return error(kernel, lowerToNVVM)
             << "expected arguments to be tensors, f32, i32 or i64, got "
             << argument.getType();
    }
  }
  for (Operation &op : kernel.getBody().front()) {
    auto begin = [&] { return error(&op, lowerToNVVM); };
    auto checkTile = [&](Type type) {
      return chip.checkSmemTile(cast<RankedTensorType>(type), begin);
    };
    auto role = dyn_cast<ws::RoleOp>(op);
    auto hold = dyn_cast<ws::HoldOp>(op);
    if ((role && failed(chip.checkRole(role, begin))) ||
        (hold && failed(checkTile(hold.getType())))) {
      return failure();
    }
    if (auto channel = dyn_cast<ws::ChannelOp>(op);
        channel && !channel.carriesWork() && !channel.carriesRows()) {
      for (Type type : channel.getTypes().getAsValueRange<TypeAttr>()) {
        if (failed(checkTile(type))) {
          return failure();
        }
      }
    }
  }
  return success();
}

/// Checks that tensors in memory are arguments of the kernel.
LogicalResult checkMemory(ws::KernelOp kernel, Operation *op) {
  Value tensor = TypeSwitch<Operation *, Value>(op)
                     .Case([](ws::CopyOp op) { return op.getSource(); })
                     .Case([](ws::StoreOp op) { return op.getDest(); })
                     .Case<tile::StoreRowOp, tile::StoreRegOp, tile::ScatterOp,
                           tile::ReduceAddOp, ws::ReduceAddOp>(
                         [](auto op) { return op.getDest(); })
                     .Case<tile::LoadOp, tile::LoadRowOp, tile::GatherOp>(
                         [](auto op) { return op.getSource(); })
                     .Case<tile::TurnWaitOp, tile::TurnPassOp>(
                         [](auto op) { return op.getTurns(); })
                     .Case([](tensor::DimOp op) { return op.getSource(); })
                     .Default(Value());
  if (tensor && tensor.getParentBlock() != &kernel.getBody().front()) {
    return error(op, lowerToNVVM) << "expected a tensor of the kernel's "
                                     "arguments, got one of a region";
  }
  if (tensor && !isa<BlockArgument>(tensor)) {
    return error(op, lowerToNVVM)
           << "expected a tensor of the kernel's arguments, got one that '"
           << tensor.getDefiningOp()->getName() << "' makes";
  }
  auto dim = dyn_cast<tensor::DimOp>(op);
  if (!dim) {
    return success();
  }
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!index || *index < 0 ||
      *index >= cast<RankedTensorType>(tensor.getType()).getRank()) {
    return error(op, lowerToNVVM)
           << "expected a constant dimension of " << tensor.getType();
  }
  for (Operation *user : dim->getUsers()) {
    auto toInt = dyn_cast<arith::IndexCastOp>(user);
    if (!toInt || !toInt.getType().isInteger(32)) {
      return error(user, lowerToNVVM)
             << "expected a dimension to be cast to i32 before its use";
    }
  }
  return success();
}

/// Checks that items are handed out in a loop over them with one end.
LogicalResult checkHandedOut(ws::KernelOp kernel, Operation *op) {
  auto loop = op->getParentOfType<ws::WorkLoopOp>();
  if (!loop || !codegen::handsOutItems(kernel)) {
    return error(op, lowerToNVVM)
           << "expected to be in a 'ws.work_loop' whose items are handed out, "
              "got "
           << (loop ? "one whose items are not" : "no loop");
  }
  return success();
}

/// Checks the verdict: there is one, and ops at the end of items refer to it.
LogicalResult checkSecondRuns(ws::KernelOp kernel, Operation *op) {
  auto second = dyn_cast<ws::SecondRunOp>(op);
  if (second && !second.getRejected()) {
    return error(op, lowerToNVVM) << "expected the verdict to be taken "
                                     "(attn-lower-channels), got none";
  }
  bool hasVerdict = !kernel.getBody().getOps<ws::VerdictOp>().empty();
  if (isa<tile::WithCareOp, ws::VerdictSlotOp>(op) && !hasVerdict) {
    return error(op, lowerToNVVM)
           << "expected a 'ws.verdict' in the kernel, got none";
  }
  if (isa<ws::VerdictSlotOp>(op) && !codegen::handsOutItems(kernel)) {
    return error(op, lowerToNVVM)
           << "expected a kernel whose items are handed out, got one whose "
              "items are not";
  }
  return success();
}

/// Checks that a loop over items that are handed out has one end.
LogicalResult checkOneEnd(ws::KernelOp kernel, Operation *op) {
  auto loop = dyn_cast<ws::WorkLoopOp>(op);
  if (!loop || !codegen::handsOutItems(kernel)) {
    return success();
  }
  auto ends = loop.getBody().getOps<ws::EndUnlessWorkOp>();
  if (llvm::hasSingleElement(ends)) {
    return success();
  }
  return error(op, lowerToNVVM)
         << "expected one 'ws.end_unless_work' for work 'dynamic', got "
         << std::distance(ends.begin(), ends.end());
}

/// Checks that work items come from the loop over them.
LogicalResult checkWork(ws::KernelOp kernel, Operation *op) {
  if (failed(checkSecondRuns(kernel, op)) || failed(checkOneEnd(kernel, op))) {
    return failure();
  }
  if (isa<ws::FetchWorkOp, ws::PutWorkOp, ws::GetWorkOp, ws::EndUnlessWorkOp,
          ws::TakeItemOp, ws::ChooseItemOp, ws::ShareWorkOp>(op) &&
      failed(checkHandedOut(kernel, op))) {
    return failure();
  }
  if (isa<tile::NextWorkOp>(op) && !op->getParentOfType<ws::WorkLoopOp>()) {
    return error(op, lowerToNVVM) << "expected to be in a 'ws.work_loop'";
  }
  if (isa<tile::NextWorkOp>(op) && codegen::handsOutItems(kernel)) {
    return error(op, lowerToNVVM)
           << "expected 'ws.take_item' where items are handed out";
  }
  for (Value operand : op->getOperands()) {
    if (!isa<tile::WorkType>(operand.getType())) {
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(operand);
    Operation *source =
        argument ? argument.getOwner()->getParentOp() : operand.getDefiningOp();
    if (!isa<tile::NextWorkOp, ws::GetWorkOp, ws::TakeItemOp, ws::ChooseItemOp,
             ws::ShareWorkOp, tile::BoundsOp>(source)) {
      return error(op, lowerToNVVM) << "no lowering for a work item that '"
                                    << source->getName() << "' makes";
    }
  }
  return success();
}

/// Checks the results of the passes before.
LogicalResult checkPrepared(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape()) {
      return error(op, lowerToNVVM)
             << "expected distributed tiles, got " << tensor;
    }
  }
  for (Value operand : op->getOperands()) {
    if (isa<ws::SlotType>(operand.getType()) &&
        !operand.getDefiningOp<ws::SlotAtOp>()) {
      return error(op, lowerToNVVM)
             << "expected slots that 'ws.slot_at' makes, got another";
    }
  }
  if (auto copy = dyn_cast<ws::CopyOp>(op); copy && !copy.getBarrier()) {
    return error(op, lowerToNVVM) << "expected a barrier, got none";
  }
  return success();
}

} // namespace

LogicalResult codegen::checkChannelsLowerable(ws::KernelOp kernel) {
  if (failed(checkPlaces(kernel, lowerChannels))) {
    return failure();
  }
  auto check = [](Operation *op) -> LogicalResult {
    if (isa<ws::ForOp>(op)) {
      return error(op, lowerChannels) << "expected the loop to be expanded";
    }
    if (isa<ws::SetupOp>(op)) {
      return error(op, lowerChannels) << "expected channels without barriers";
    }
    return success(
        succeeded(checkMeetings(op)) && succeeded(checkAwaitedStores(op)) &&
        succeeded(checkVerdictGiven(op)) && succeeded(checkOperands(op)) &&
        succeeded(checkSlots(op)) && succeeded(checkEnteredWith(op)));
  };
  return success(succeeded(checkEach(kernel, check)) &&
                 succeeded(checkProducers(kernel)) &&
                 succeeded(checkVerdicts(kernel)));
}

LogicalResult codegen::checkChannelsLowered(ws::KernelOp kernel) {
  return checkEach(kernel, [](Operation *op) -> LogicalResult {
    if (isa<ws::AcquireOp, ws::WaitOp, ws::ReleaseOp, ws::TakeOp, ws::GiveOp,
            ws::SignalOp, ws::WaitEdgeOp, ws::SyncOp, ws::AwaitStoreOp,
            ws::SlotOffsetOp, ws::GiveVerdictOp>(op)) {
      return error(op, lowerChannels) << "expected the op to be lowered";
    }
    for (Value operand : op->getOperands()) {
      if (isa<ws::SlotType>(operand.getType()) &&
          !operand.getDefiningOp<ws::SlotAtOp>()) {
        return error(op, lowerChannels)
               << "expected slots that 'ws.slot_at' makes, got another";
      }
    }
    return success();
  });
}

LogicalResult codegen::checkBarriersReadable(ws::KernelOp kernel) {
  if (failed(checkPlaces(kernel, verifyChannels))) {
    return failure();
  }
  return checkEach(kernel, [](Operation *op) -> LogicalResult {
    auto copy = dyn_cast<ws::CopyOp>(op);
    if (copy && !copy.getBarrier()) {
      return error(op, verifyChannels) << "expected a barrier, got none";
    }
    return success();
  });
}

LogicalResult codegen::checkKernelLowerable(ws::KernelOp kernel,
                                            const Target &chip) {
  if (failed(checkPlaces(kernel, lowerToNVVM)) ||
      failed(checkDeclarations(kernel, chip))) {
    return failure();
  }
  return checkEach(kernel, [&](Operation *op) {
    return success(succeeded(checkPrepared(op)) &&
                   succeeded(checkWork(kernel, op)) &&
                   succeeded(checkMemory(kernel, op)) &&
                   succeeded(chip.checkInstruction(
                       op, [&] { return error(op, lowerToNVVM); })));
  });
}

LogicalResult codegen::checkKernelLowered(gpu::GPUModuleOp module) {
  return checkEach(module, [&](Operation *op) -> LogicalResult {
    if (isa_and_nonnull<AttnDialect, tile::TileDialect, ws::WsDialect,
                        tensor::TensorDialect>(op->getDialect())) {
      return error(op, lowerToNVVM) << "expected the op to be lowered";
    }
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      if (!module.getBodyRegion().isAncestor(operand.getParentRegion())) {
        return error(op, lowerToNVVM) << "no lowering for operand #" << number
                                      << " of type " << operand.getType();
      }
    }
    return success();
  });
}
