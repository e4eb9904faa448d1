// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WarpUnroller.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr StringLiteral passName = "attn-verify-channels: ";
static constexpr int64_t threadsOfWarp = 32;
/// Trips of a loop at most; items have a few blocks.
static constexpr int64_t maxTrips = 64;

WarpUnroller::WarpUnroller(ws::KernelOp kernel, const RoleSlice &slice,
                           WarpPlace place, ArrayRef<TrialItem> items)
    : kernel(kernel), slice(slice), place(place), items(items),
      values(slice.all().size()) {
  for (auto [value, number] : slice.all()) {
    IntegerAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      values[number] = uniform(constant.getValue().getSExtValue());
    }
  }
}

WarpUnroller::Lanes WarpUnroller::uniform(int64_t value) {
  Lanes lanes;
  lanes.values.fill(int32_t(value));
  lanes.isKnown = lanes.isUniform = true;
  return lanes;
}

const WarpUnroller::Lanes &WarpUnroller::get(Value value) const {
  static const Lanes unknown;
  std::optional<unsigned> number = slice.numberOf(value);
  return number ? values[*number] : unknown;
}

void WarpUnroller::set(Value value, const Lanes &lanes, uint32_t mask) {
  std::optional<unsigned> number = slice.numberOf(value);
  if (!number) {
    return;
  }
  Lanes &to = values[*number];
  if (mask == ~0u || !lanes.isKnown) {
    to = lanes;
    return;
  }
  for (unsigned i = 0; i < warpLanes; ++i) {
    to.values[i] = mask >> i & 1 ? lanes.values[i] : to.values[i];
  }
  to.isKnown = true;
  to.isUniform = false;
}

const WarpUnroller::Lanes *WarpUnroller::known(Value value, Operation *user) {
  const Lanes &lanes = get(value);
  if (lanes.isKnown) {
    return &lanes;
  }
  user->emitOpError(passName)
      << "expected a value that follows from counters, threads and bounds "
         "of the item, got one that depends on data";
  return nullptr;
}

FailureOr<int32_t> WarpUnroller::first(Value value, Operation *user,
                                       uint32_t lanes) {
  const Lanes *all = known(value, user);
  if (!all) {
    return failure();
  }
  int32_t found = all->values[llvm::countr_zero(lanes)];
  for (unsigned i = 0; i < warpLanes; ++i) {
    if (lanes >> i & 1 && all->values[i] != found) {
      return user->emitOpError(passName)
             << "expected the same value in all lanes, got " << found << " and "
             << all->values[i];
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Scalars.
//===----------------------------------------------------------------------===//

/// Downward the bounds are [total, total - masked, 0]; further ranges share the
/// rest. A sub-tile, and a CTA, has a masked block less than the next. Upward
/// they are counted from the other end, and no sub-tile has fewer.
int64_t WarpUnroller::boundOf(OpResult result) {
  auto bounds = cast<tile::BoundsOp>(result.getOwner());
  unsigned index = result.getResultNumber();
  if (bounds.getUp()) {
    return index == 0 ? 0
           : index + 1 == bounds->getNumResults()
               ? item.total
               : item.total - ((item.total - item.masked) >> (index - 1));
  }
  if (index == 0) {
    int64_t later = kernel.getConfig().getCluster() - 1 - place.cta;
    int64_t subtiles = bounds.getOf().value_or(1);
    int64_t skipped = (later + 1) * subtiles - 1 - place.replica;
    return item.total -
           (bounds.getSubtile() ? std::min(item.masked, skipped) : 0);
  }
  return index + 1 == bounds->getNumResults()
             ? 0
             : (item.total - item.masked) >> (index - 1);
}

/// Nothing for an op that is not known here.
static std::optional<int32_t> evaluateOp(Operation *op, int32_t a, int32_t b) {
  using Result = std::optional<int32_t>;
  uint32_t ua = a, ub = b;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return Result(ua + ub); })
      .Case([&](arith::SubIOp) { return Result(ua - ub); })
      .Case([&](arith::MulIOp) { return Result(ua * ub); })
      .Case([&](arith::AndIOp) { return Result(a & b); })
      .Case([&](arith::OrIOp) { return Result(a | b); })
      .Case([&](arith::XOrIOp) { return Result(a ^ b); })
      .Case(
          [&](arith::ShRUIOp) { return ub < 32 ? Result(ua >> ub) : Result(); })
      .Case([&](arith::DivUIOp) { return ub ? Result(ua / ub) : Result(); })
      .Case([&](arith::MinSIOp) { return Result(std::min(a, b)); })
      .Case([&](arith::MaxSIOp) { return Result(std::max(a, b)); })
      .Case([&](arith::ExtUIOp) { return Result(a & 1); })
      .Case([&](arith::CmpIOp op) {
        return Result(arith::applyCmpPredicate(op.getPredicate(), APInt(32, ua),
                                               APInt(32, ub)));
      })
      .Default(Result());
}

/// Of one lane, with the operands that it has.
static std::optional<int32_t> evaluateOp(Operation *op,
                                         ArrayRef<int32_t> operands) {
  if (isa<arith::SelectOp>(op)) {
    return operands[operands[0] ? 1 : 2];
  }
  if (operands.empty() || operands.size() > 2) {
    return std::nullopt;
  }
  std::optional<int32_t> value =
      evaluateOp(op, operands.front(), operands.back());
  // Truth is one bit, whatever wrote it.
  bool isTruth = op->getResult(0).getType().isInteger(1);
  return value && isTruth ? *value & 1 : value;
}

WarpUnroller::Lanes WarpUnroller::evaluateArith(Operation *op) {
  SmallVector<const Lanes *, 3> operands;
  bool isUniform = true;
  for (Value operand : op->getOperands()) {
    operands.push_back(&get(operand));
    isUniform &= operands.back()->isUniform;
    if (!operands.back()->isKnown) {
      return {};
    }
  }
  Lanes result;
  for (unsigned i = 0; i < (isUniform ? 1 : warpLanes); ++i) {
    SmallVector<int32_t, 3> each;
    for (const Lanes *operand : operands) {
      each.push_back(operand->values[i]);
    }
    std::optional<int32_t> value = evaluateOp(op, each);
    if (!value) {
      return {};
    }
    result.values[i] = *value;
  }
  result.isKnown = true;
  return isUniform ? uniform(result.values[0]) : result;
}

void WarpUnroller::evaluate(Operation *op) {
  auto setAll = [&](Value value, int64_t to) { set(value, uniform(to)); };
  TypeSwitch<Operation *>(op)
      .Case([&](NVVM::ThreadIdXOp op) {
        // Roles of whole groups of warps begin at one.
        Lanes tid = uniform(threadsOfWarp * place.warp);
        for (unsigned i = 0; i < warpLanes; ++i) {
          tid.values[i] += int32_t(i);
        }
        tid.isUniform = false;
        set(op, tid);
      })
      .Case([&](NVVM::ClusterId op) { setAll(op, place.cta); })
      .Case([&](tile::BoundsOp op) {
        for (OpResult result : op->getResults()) {
          setAll(result, boundOf(result));
        }
      })
      .Case([&](tile::WithCareOp op) { setAll(op, item.isSecond()); })
      .Case([&](ws::VerdictSlotOp op) { setAll(op, turn % ws::verdictRing); })
      .Case([&](ws::SmemOp op) {
        Lanes address = get(op.getOffset());
        for (int32_t &each : address.values) {
          each = addressIn(place.cta, each);
        }
        set(op, address);
      })
      .Case([&](NVVM::MapaOp op) {
        Lanes address = get(op.getA()), rank = get(op.getB());
        for (unsigned i = 0; i < warpLanes; ++i) {
          address.values[i] =
              addressIn(rank.values[i], address.values[i] % ctaStride);
        }
        address.isKnown &= rank.isKnown;
        address.isUniform &= rank.isUniform;
        set(op, address);
      })
      .Case([&](ws::SlotAtOp op) { set(op, get(op.getOffset())); })
      .Case([&](LLVM::LoadOp op) { set(op, get(op.getAddr())); })
      .Case<LLVM::AllocaOp, arith::ConstantOp>([](Operation *) {}) // known
      .Default([&](Operation *op) {
        if (op->getNumResults() == 1) {
          set(op->getResult(0), evaluateArith(op));
        }
      });
}

//===----------------------------------------------------------------------===//
// Events.
//===----------------------------------------------------------------------===//

LogicalResult WarpUnroller::add(BarrierEvent::Kind kind, Operation *op,
                                Value address, Value number, uint32_t lanes) {
  const Lanes *places = known(address, op);
  FailureOr<int32_t> count = number ? first(number, op, lanes) : 0;
  if (!places || failed(count)) {
    return failure();
  }
  // A wait, or a barrier of the CTA, is the warp's; the rest is each lane's.
  bool isWarps = kind == BarrierEvent::Wait || kind == BarrierEvent::Meet ||
                 kind == BarrierEvent::Pass;
  if (isWarps && failed(first(address, op, lanes))) {
    return failure();
  }
  for (unsigned i = 0; i < warpLanes; ++i) {
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
                                     StringRef name, Value piece,
                                     uint32_t lanes) {
  auto hold = kernel.lookupSymbol<ws::HoldOp>(name);
  FailureOr<int32_t> number = first(piece, op, lanes);
  if (failed(number)) {
    return failure();
  }
  int64_t offset = *hold.getOffset() + *number * hold.getPieceBytes();
  events.push_back({kind, op, addressIn(place.cta, offset), 0, lanes});
  return success();
}

/// The CTAs of a cluster each copy a share of a shared tile to all.
LogicalResult WarpUnroller::addCopy(ws::CopyOp copy, uint32_t lanes) {
  auto slot = copy.getSlot().getType();
  auto channel = kernel.lookupSymbol<ws::ChannelOp>(slot.getChannel());
  int64_t ctas = channel.getCluster() ? kernel.getConfig().getCluster() : 1;
  FailureOr<int32_t> barrier = first(copy.getBarrier(), copy, lanes);
  if (failed(barrier)) {
    return failure();
  }
  int64_t bytes = ws::tileBytes(slot.getTile()) / ctas;
  for (int64_t i = 0; i < ctas; ++i) {
    int64_t cta = ctas == 1 ? place.cta : i;
    events.push_back({BarrierEvent::Copy, copy,
                      addressIn(cta, *barrier % ctaStride), bytes, lanes});
  }
  return success();
}

/// What a product reads of holds.
LogicalResult WarpUnroller::addReads(ws::MmaOp mma, uint32_t lanes) {
  for (Value operand : {mma.getA(), Value(mma.getB())}) {
    auto slot = dyn_cast<ws::SlotType>(operand.getType());
    if (!slot || !kernel.lookupSymbol<ws::HoldOp>(slot.getChannel())) {
      continue;
    }
    FailureOr<int32_t> offset = first(operand, mma, lanes);
    if (failed(offset)) {
      return failure();
    }
    events.push_back(
        {BarrierEvent::Read, mma, addressIn(place.cta, *offset), 0, lanes});
  }
  return success();
}

/// Waits for the verdicts that are due in this turn.
void WarpUnroller::takeVerdicts(ws::ChooseItemOp choose, uint32_t lanes) {
  auto verdict = kernel.lookupSymbol<ws::VerdictOp>(choose.getVerdict());
  ws::VerdictMemory memory = ws::memoryOf(verdict);
  auto take = [&](int64_t number) {
    int64_t barrier = memory.barrier(number % ws::verdictRing);
    events.push_back({BarrierEvent::Wait, choose, addressIn(place.cta, barrier),
                      number / ws::verdictRing % 2, lanes});
    return llvm::any_of(
        items, [&](const TrialItem &each) { return each.first == number; });
  };
  bool more = llvm::any_of(items.drop_front(turn), [](const TrialItem &each) {
    return !each.isSecond();
  });
  ws::KnownScalars now{take};
  handOut = ws::chooseItem(now, handOut, turn, more).state;
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
      .Case([&](ws::PutOp op) {
        return addPiece(Kind::Put, op, op.getHold(), op.getPiece(), lanes);
      })
      .Case([&](ws::StoreOp op) {
        return addPiece(Kind::Store, op, op.getHold(), op.getPiece(), lanes);
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
      .Default([&](Operation *op) { return evaluate(op), success(); });
}

//===----------------------------------------------------------------------===//
// Control flow.
//===----------------------------------------------------------------------===//

/// The argument of a role is its replica's number.
LogicalResult WarpUnroller::unroll(Block &block, uint32_t lanes) {
  for (BlockArgument argument : block.getArguments()) {
    set(argument, uniform(place.replica));
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
        // The first CTA alone takes items, and the verdicts on them.
        return place.cta == 0 ? run(op.getBody().front(), lanes) : success();
      })
      .Case([&](LLVM::StoreOp op) { return runStore(op, lanes); })
      .Default([&](Operation *op) { return runEvent(op, lanes); });
}

/// Where items are handed out, all roles see that there is none after the last.
LogicalResult WarpUnroller::runWork(ws::WorkLoopOp loop, uint32_t lanes) {
  Block &body = loop.getBody().front();
  handOut = {};
  for (turn = 0; turn < int64_t(items.size()); ++turn) {
    item = items[turn];
    if (failed(run(body, lanes))) {
      return failure();
    }
  }
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
  FailureOr<int32_t> from = first(loop.getLowerBound(), loop, lanes);
  FailureOr<int32_t> to = first(loop.getUpperBound(), loop, lanes);
  FailureOr<int32_t> step = first(loop.getStep(), loop, lanes);
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
    SmallVector<Lanes> all;
    llvm::for_each(from, [&](Value value) { all.push_back(get(value)); });
    for (auto [value, lanes] : llvm::zip(to, all)) {
      set(value, lanes);
    }
  };
  pass(loop.getInitArgs(), loop.getRegionIterArgs());
  for (int64_t i = *from; i < *to; i += *step) {
    set(loop.getInductionVar(), uniform(i));
    if (failed(run(*loop.getBody(), lanes))) {
      return failure();
    }
    pass(loop.getYieldedValues(), loop.getRegionIterArgs());
  }
  pass(loop.getRegionIterArgs(), loop.getResults());
  return success();
}

LogicalResult WarpUnroller::runIf(scf::IfOp branch, uint32_t lanes) {
  const Lanes *condition = known(branch.getCondition(), branch);
  if (!condition) {
    return failure();
  }
  uint32_t taken = 0;
  for (unsigned i = 0; i < warpLanes; ++i) {
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
      set(result, get(value), in == lanes ? ~0u : in);
    }
    return success();
  };
  return success(succeeded(runRegion(branch.getThenRegion(), lanes & taken)) &&
                 succeeded(runRegion(branch.getElseRegion(), lanes & ~taken)));
}

/// Variables of a role are on its stack; setup clears words in shared memory.
LogicalResult WarpUnroller::runStore(LLVM::StoreOp store, uint32_t lanes) {
  if (store.getAddr().getDefiningOp<LLVM::AllocaOp>()) {
    set(store.getAddr(), get(store.getValue()), lanes);
    return success();
  }
  return add(BarrierEvent::Word, store, store.getAddr(), {}, lanes);
}
