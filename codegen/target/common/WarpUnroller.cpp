// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WarpUnroller.h"
#include "HoldPatterns.h"
#include "attn/codegen/launch/LaunchShape.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr StringLiteral passName = "attn-verify-channels: ";
/// The largest trip count of a loop; items have few blocks.
static constexpr int64_t maxTrips = 64;

//===----------------------------------------------------------------------===//
// Events.
//===----------------------------------------------------------------------===//

LogicalResult WarpUnroller::add(BarrierEvent::Kind kind, Operation *op,
                                Value address, Value number, uint32_t lanes) {
  const WarpValues::Lanes *places = values.known(address, op);
  FailureOr<int32_t> count = number ? values.first(number, op, lanes) : 0;
  if (!places || failed(count)) {
    return failure();
  }
  // A wait, or a barrier of the CTA, belongs to the warp; other events to each
  // lane.
  bool isWarps = kind == BarrierEvent::Wait || kind == BarrierEvent::Meet ||
                 kind == BarrierEvent::Pass;
  if (isWarps && failed(values.first(address, op, lanes))) {
    return failure();
  }
  for (unsigned i = 0; i < warpThreads; ++i) {
    if (lanes >> i & 1) {
      events.push_back({kind, op, places->values[i], *count,
                        isWarps ? lanes : uint32_t(1) << i});
      if (isWarps) {
        break;
      }
    }
  }
  return success();
}

LogicalResult WarpUnroller::addPiece(BarrierEvent::Kind kind, Operation *op,
                                     FlatSymbolRefAttr name, Value piece,
                                     uint32_t lanes) {
  auto hold = kernel.lookupSymbol<ws::HoldOp>(name.getAttr());
  FailureOr<int32_t> number = values.first(piece, op, lanes);
  if (failed(number)) {
    return failure();
  }
  int64_t offset = *hold.getOffset() + *number * hold.getPieceBytes();
  events.push_back({kind, op, addressIn(warp.cta, offset), 0, lanes, name});
  return success();
}

/// Each CTA of a cluster copies a share of a shared tile to all CTAs.
LogicalResult WarpUnroller::addCopy(ws::CopyOp copy, uint32_t lanes) {
  auto slot = copy.getSlot().getType();
  auto channel = kernel.lookupSymbol<ws::ChannelOp>(slot.getChannel());
  int64_t ctas = channel.getCluster() ? clusterOf(kernel) : 1;
  FailureOr<int32_t> barrier = values.first(copy.getBarrier(), copy, lanes);
  if (failed(barrier)) {
    return failure();
  }
  int64_t bytes = ws::tileBytes(slot.getTile()) / ctas;
  for (int64_t i = 0; i < ctas; ++i) {
    int64_t cta = ctas == 1 ? warp.cta : i;
    events.push_back({BarrierEvent::Copy, copy,
                      addressIn(cta, *barrier % ctaStride), bytes, lanes});
  }
  return success();
}

/// Adds the reads of a product from holds.
LogicalResult WarpUnroller::addReads(ws::MmaOp mma, uint32_t lanes) {
  for (Value operand : {mma.getA(), Value(mma.getB())}) {
    auto slot = dyn_cast<ws::SlotType>(operand.getType());
    if (!slot || !kernel.lookupSymbol<ws::HoldOp>(slot.getChannel())) {
      continue;
    }
    FailureOr<int32_t> offset = values.first(operand, mma, lanes);
    if (failed(offset)) {
      return failure();
    }
    if (operand == operandOfAllPieces(mma)) {
      auto hold = kernel.lookupSymbol<ws::HoldOp>(slot.getChannel());
      for (int64_t piece = 0; piece < int64_t(hold.getPieces()); ++piece) {
        events.push_back(
            {BarrierEvent::ReadAll, mma,
             addressIn(warp.cta, *offset + piece * hold.getPieceBytes()), 0,
             lanes, slot.getChannel()});
      }
      continue;
    }
    events.push_back({BarrierEvent::Read, mma, addressIn(warp.cta, *offset), 0,
                      lanes, slot.getChannel()});
  }
  return success();
}

/// Waits for the verdicts that are due in this iteration.
void WarpUnroller::takeVerdicts(ws::ChooseItemOp choose, uint32_t lanes) {
  auto verdict = kernel.lookupSymbol<ws::VerdictOp>(choose.getVerdict());
  ws::VerdictMemory memory = ws::memoryOf(verdict);
  auto take = [&](int64_t number) {
    int64_t barrier = memory.barrier(number % ws::verdictRing);
    events.push_back({BarrierEvent::Wait, choose, addressIn(warp.cta, barrier),
                      number / ws::verdictRing % 2, lanes});
    return llvm::any_of(
        items, [&](const TrialItem &each) { return each.first == number; });
  };
  bool more =
      llvm::any_of(items.drop_front(iteration),
                   [](const TrialItem &each) { return !each.isSecond(); });
  ws::KnownScalars now{take};
  handOut = ws::chooseItem(now, handOut, iteration, more).state;
}

LogicalResult WarpUnroller::runEvent(Operation *op, uint32_t lanes) {
  using Kind = BarrierEvent::Kind;
  auto barrier = [&](Kind kind, auto op) -> LogicalResult {
    if (!op.getBarrierId() || !op.getNumberOfThreads()) {
      return op.emitOpError(passName) << "expected a barrier with an id and a "
                                         "number of threads, got one without";
    }
    return add(kind, op, op.getBarrierId(), op.getNumberOfThreads(), lanes);
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](NVVM::MBarrierInitOp op) {
        return add(Kind::Init, op, op.getAddr(), op.getCount(), lanes);
      })
      .Case([&](NVVM::MBarrierArriveOp op) {
        return add(Kind::Arrive, op, op.getAddr(), {}, lanes);
      })
      .Case([&](NVVM::MBarrierArriveExpectTxOp op) {
        return add(Kind::Arrive, op, op.getAddr(), op.getTxcount(), lanes);
      })
      .Case([&](nvx::MbarrierWaitOp op) {
        return add(Kind::Wait, op, op.getAddress(), op.getParity(), lanes);
      })
      .Case([&](NVVM::BarrierOp op) { return barrier(Kind::Meet, op); })
      .Case([&](NVVM::BarrierArriveOp op) { return barrier(Kind::Pass, op); })
      .Case([&](ws::CopyOp op) { return addCopy(op, lanes); })
      .Case([&](ws::MmaOp op) { return addReads(op, lanes); })
      .Case([&](ws::AwaitOp op) {
        events.push_back(
            {Kind::AwaitMma, op.getToken().getDefiningOp(), 0, 0, lanes});
        return success();
      })
      .Case([&](ws::PutOp op) {
        return addPiece(Kind::Put, op, op.getHoldAttr(), op.getPiece(), lanes);
      })
      .Case([&](ws::StoreOp op) {
        return addPiece(Kind::Store, op, op.getHoldAttr(), op.getPiece(),
                        lanes);
      })
      .Case([&](ws::ReduceAddOp op) {
        bool isWhole = op->getParentOfType<ws::RoleOp>().isSingleThread();
        return addPiece(isWhole ? Kind::Store : Kind::Add, op, op.getHoldAttr(),
                        op.getPiece(), lanes);
      })
      .Case([&](ws::ChooseItemOp op) {
        return takeVerdicts(op, lanes), success();
      })
      .Case<NVVM::FenceProxyOp, NVVM::CpAsyncBulkWaitGroupOp>(
          [&](Operation *op) {
            Kind kind =
                isa<NVVM::FenceProxyOp>(op) ? Kind::Fence : Kind::AwaitStores;
            events.push_back({kind, op, 0, 0, lanes});
            return success();
          })
      .Default([&](Operation *op) { return values.evaluate(op), success(); });
}

//===----------------------------------------------------------------------===//
// Control flow.
//===----------------------------------------------------------------------===//

/// The argument of a role is the number of its replica.
LogicalResult WarpUnroller::unroll(Block &block, uint32_t lanes) {
  for (BlockArgument argument : block.getArguments()) {
    values.set(argument, values.uniform(warp.replica));
  }
  return run(block, lanes);
}

LogicalResult WarpUnroller::run(Block &block, uint32_t lanes) {
  for (Operation *op : slice.opsOf(block)) {
    if (failed(runOp(op, lanes))) {
      return failure();
    }
  }
  return success();
}

LogicalResult WarpUnroller::runOp(Operation *op, uint32_t lanes) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ws::WorkLoopOp op) { return runWork(op, lanes); })
      .Case([&](scf::ForOp op) { return runFor(op, lanes); })
      .Case([&](scf::IfOp op) { return runIf(op, lanes); })
      .Case([&](ws::ShareWorkOp op) {
        // Only the first CTA takes items, and reads the verdicts on them.
        return warp.cta == 0 ? run(op.getBody().front(), lanes) : success();
      })
      .Case([&](LLVM::StoreOp op) { return runStore(op, lanes); })
      .Default([&](Operation *op) { return runEvent(op, lanes); });
}

/// If items are handed out, all roles receive the item "none left" after the
/// last.
LogicalResult WarpUnroller::runWork(ws::WorkLoopOp loop, uint32_t lanes) {
  Block &body = loop.getBody().front();
  handOut = {};
  for (iteration = 0; iteration < int64_t(items.size()); ++iteration) {
    values.beginItem(iteration, items[iteration]);
    if (failed(run(body, lanes))) {
      return failure();
    }
  }
  values.beginItem(iteration, TrialItem{0, 0});
  auto ends = body.getOps<ws::EndUnlessWorkOp>();
  if (ends.empty()) {
    return success();
  }
  for (Operation *op : slice.opsOf(body)) {
    if (op->isBeforeInBlock(*ends.begin()) && failed(runOp(op, lanes))) {
      return failure();
    }
  }
  return success();
}

LogicalResult WarpUnroller::runFor(scf::ForOp loop, uint32_t lanes) {
  FailureOr<int32_t> from = values.first(loop.getLowerBound(), loop, lanes);
  FailureOr<int32_t> to = values.first(loop.getUpperBound(), loop, lanes);
  FailureOr<int32_t> step = values.first(loop.getStep(), loop, lanes);
  if (failed(from) || failed(to) || failed(step)) {
    return failure();
  }
  if (*step < 1 || (int64_t(*to) - *from) / *step > maxTrips) {
    return loop.emitOpError(passName)
           << "expected at most " << maxTrips
           << " trips with a step of at least 1, got " << *from << " to " << *to
           << " step " << *step;
  }
  auto pass = [&](ValueRange from, ValueRange to) {
    SmallVector<WarpValues::Lanes> all;
    llvm::for_each(from,
                   [&](Value value) { all.push_back(values.get(value)); });
    for (auto [value, lanes] : llvm::zip(to, all)) {
      values.set(value, lanes);
    }
  };
  pass(loop.getInitArgs(), loop.getRegionIterArgs());
  for (int64_t i = *from; i < *to; i += *step) {
    values.set(loop.getInductionVar(), values.uniform(i));
    if (failed(run(*loop.getBody(), lanes))) {
      return failure();
    }
    pass(loop.getYieldedValues(), loop.getRegionIterArgs());
  }
  pass(loop.getRegionIterArgs(), loop.getResults());
  return success();
}

LogicalResult WarpUnroller::runIf(scf::IfOp branch, uint32_t lanes) {
  const WarpValues::Lanes *condition =
      values.known(branch.getCondition(), branch);
  if (!condition) {
    return failure();
  }
  uint32_t taken = 0;
  for (unsigned i = 0; i < warpThreads; ++i) {
    taken |= uint32_t(condition->values[i] != 0) << i;
  }
  auto runRegion = [&](Region &region, uint32_t in) -> LogicalResult {
    if (in == 0 || region.empty()) {
      return success();
    }
    if (failed(run(region.front(), in))) {
      return failure();
    }
    Operation *yield = region.front().getTerminator();
    for (auto [result, value] :
         llvm::zip(branch.getResults(), yield->getOperands())) {
      values.set(result, values.get(value), in == lanes ? ~0u : in);
    }
    return success();
  };
  return success(succeeded(runRegion(branch.getThenRegion(), lanes & taken)) &&
                 succeeded(runRegion(branch.getElseRegion(), lanes & ~taken)));
}

/// Variables of a role are on its stack; setup clears words in shared memory.
LogicalResult WarpUnroller::runStore(LLVM::StoreOp store, uint32_t lanes) {
  if (store.getAddr().getDefiningOp<LLVM::AllocaOp>()) {
    values.set(store.getAddr(), values.get(store.getValue()), lanes);
    return success();
  }
  return add(BarrierEvent::Word, store, store.getAddr(), {}, lanes);
}
