// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops that give a role its work items: the item of a turn, and items
// that one role takes from a counter and hands out.
#include "WorkItemLowering.h"
#include "attn/codegen/target/InlineAsm.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// The counter's answer to the last fetch; at first, the one that gives the CTA
/// the item of its own number, which needs no counter.
void WorkItemLowering::createAnswer(ws::TakeItemOp take) {
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext());
  answer = LLVM::AllocaOp::create(*builder, loc, ptr, builder->getI32Type(),
                                  constant(1));
  Value inFlight = itemsInFlight();
  Value first = arith::SubIOp::create(*builder, loc, item, inFlight);
  if (take.getWhole()) {
    first = createFirstAnswer(take, first, inFlight);
  }
  LLVM::StoreOp::create(*builder, loc, first, answer);
}

/// Parts are handed out in order, since one waits for those before it: where a
/// CTA's first item may be a part it comes from the counter too, which then
/// counts from -grid.
Value WorkItemLowering::createFirstAnswer(ws::TakeItemOp take, Value first,
                                          Value grid) {
  Value mayBePart = arith::CmpIOp::create(
      *builder, loc, arith::CmpIPredicate::ult, take.getWhole(), grid);
  uncounted =
      arith::SelectOp::create(*builder, loc, mayBePart, grid, constant(0));
  partsDivisor = Divisor::prepare(*builder, loc, take.getParts());
  auto branch = scf::IfOp::create(*builder, loc, builder->getI32Type(),
                                  mayBePart, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*builder);
  builder->setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(
      *builder, loc,
      takeFromCounter(countItems(take, extentsOf(take).count(*builder, loc))));
  builder->setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*builder, loc, first);
  return branch.getResult(0);
}

/// As many items as there are have been asked for when the last CTA ends: the
/// counter then wraps to 0, as the next launch expects it.
Value WorkItemLowering::takeFromCounter(Value items) {
  Value last = arith::SubIOp::create(*builder, loc, items, constant(1));
  if (uncounted) {
    last = add(last, uncounted);
  }
  Value taken = LLVM::AtomicRMWOp::create(
      *builder, loc, LLVM::AtomicBinOp::uinc_wrap, params.workspace(), last,
      LLVM::AtomicOrdering::monotonic, "device");
  return uncounted ? arith::SubIOp::create(*builder, loc, taken, uncounted)
                         .getResult()
                   : taken;
}

static bool takesItems(ws::WorkLoopOp loop) {
  return loop.walk([](ws::TakeItemOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Divides by what does not change in the loop with a reciprocal.
void WorkItemLowering::prepareDivisions(ws::WorkLoopOp loop) {
  if (sharesItems() && takesItems(loop)) {
    return; // Sharing items leaves the role no registers for them.
  }
  llvm::MapVector<Value, Divisor> divisors;
  SmallVector<arith::DivUIOp> divisions;
  loop.walk([&](arith::DivUIOp op) {
    Value divisor = op.getRhs();
    if (!loop.getBody().isAncestor(divisor.getParentRegion())) {
      divisions.push_back(op);
      if (!divisors.contains(divisor)) {
        divisors[divisor] = Divisor::prepare(*builder, loc, divisor);
      }
    }
  });
  OpBuilder::InsertionGuard guard(*builder);
  for (arith::DivUIOp op : divisions) {
    builder->setInsertionPoint(op);
    Value quotient =
        divisors[op.getRhs()].divide(*builder, op.getLoc(), op.getLhs()).first;
    op.replaceAllUsesWith(quotient);
    op.erase();
  }
}

/// A loop that ends in its middle: what follows ws.end_unless_work is skipped,
/// and no turn follows.
LogicalResult WorkItemLowering::lowerHandedOut(ws::WorkLoopOp op) {
  auto ends = op.getBody().getOps<ws::EndUnlessWorkOp>();
  if (!llvm::hasSingleElement(ends)) {
    return op.emitOpError("attn-lower-to-nvvm: expected one "
                          "'ws.end_unless_work' for work 'dynamic', got ")
           << std::distance(ends.begin(), ends.end());
  }
  ws::EndUnlessWorkOp end = *ends.begin();
  op.walk([&](ws::TakeItemOp take) {
    taken = take;
    createAnswer(take);
    if (!sharesItems()) {
      places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(),
                          extentsOf(take), /*manyItems=*/true);
    }
  });
  prepareDivisions(op);
  auto &body = op.getBody().front().getOperations();
  auto loop = scf::WhileOp::create(*builder, loc, TypeRange(), ValueRange());
  Block *turn = builder->createBlock(&loop.getBefore());
  turn->getOperations().splice(turn->end(), body, body.begin(),
                               end->getIterator());
  if (failed(lowerOps(turn->begin(), turn->end()))) {
    return failure();
  }
  builder->setInsertionPointToEnd(turn);
  Value more = exists.lookup(end.getWork());
  auto branch =
      scf::IfOp::create(*builder, loc, more, /*withElseRegion=*/false);
  Block *rest = branch.thenBlock();
  Block::iterator last = std::prev(rest->end());
  rest->getOperations().splice(last, body, std::next(end->getIterator()),
                               body.end());
  if (failed(lowerOps(rest->begin(), last))) {
    return failure();
  }
  builder->setInsertionPointToEnd(turn);
  scf::ConditionOp::create(*builder, loc, more, ValueRange());
  builder->createBlock(&loop.getAfter());
  scf::YieldOp::create(*builder, loc);
  return success();
}

/// Items that are handed out, of `items` as they are counted whole: those that
/// are cut count once a part.
Value WorkItemLowering::countItems(ws::TakeItemOp op, Value items) {
  if (!op.getWhole()) {
    return items;
  }
  Value whole = op.getWhole();
  Value cut = arith::SubIOp::create(*builder, loc, items, whole);
  Value inParts = arith::MulIOp::create(*builder, loc, cut, op.getParts());
  return add(whole, inParts);
}

/// Of an item as handed out, which part of which item it is; the number of the
/// latter.
Value WorkItemLowering::findPart(ws::TakeItemOp take, Value work,
                                 Value number) {
  Value whole = take.getWhole();
  Value isPart = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::uge,
                                       number, whole);
  Value past = arith::SubIOp::create(*builder, loc, number, whole);
  auto [cutItem, part] = partsDivisor.divide(*builder, loc, past);
  partsOf[work] = {isPart, part, cutItem};
  return arith::SelectOp::create(*builder, loc, isPart, add(whole, cutItem),
                                 number);
}

/// The item that this CTA computes itself: of a cluster's item its row block.
void WorkItemLowering::lowerNextWork(tile::NextWorkOp op) {
  redos[op.getWork()] = redoOfGrid;
  places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(),
                      extentsOf(op), /*manyItems=*/false);
  works[op.getWork()] = places.of(*builder, loc, item);
  if (clusterSize() > 1) {
    Value &block = works[op.getWork()][0];
    block = add(mul(block, clusterSize()), rankInCluster());
  }
}

/// The items of the first turn came without the counter. This is the first use
/// of its answer.
void WorkItemLowering::lowerTakeItem(ws::TakeItemOp op) {
  if (sharesItems()) {
    places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(),
                        extentsOf(op), /*manyItems=*/false);
  }
  Value inFlight = itemsInFlight();
  Value number = add(load(answer), inFlight);
  Value isItem =
      arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult, number,
                            countItems(op, extentsOf(op).count(*builder, loc)));
  numbers[op.getWork()] = number;
  exists[op.getWork()] = isItem;
  bool isChosen = op->hasOneUse() && isa<ws::ChooseItemOp>(*op->user_begin());
  if (!isChosen) {
    findItem(op, op.getWork());
  }
}

/// The place of the item `work`, which has its number.
void WorkItemLowering::findItem(ws::TakeItemOp take, Value work) {
  Value number = numbers.lookup(work);
  number = take.getWhole() ? findPart(take, work, number) : number;
  works[work] = places.of(*builder, loc, number);
}

/// Bits 2 to 9: 0, or 1 more than the number of the part; the others: that of
/// the item among those that are cut.
Value WorkItemLowering::packPart(const Part &part) {
  Value code = add(mul(part.item, 256), add(part.part, constant(1)));
  Value some =
      arith::SelectOp::create(*builder, loc, part.isPart, code, constant(0));
  return mul(some, 4);
}

WorkItemLowering::Part WorkItemLowering::partOf(Value work) {
  if (auto known = partsOf.find(work); known != partsOf.end()) {
    return known->second;
  }
  // A copy, so that it is unpacked here: few registers are free in the loop.
  InlineAsm copy(*builder, loc);
  copy.addReadWrite(packedParts.lookup(work));
  Value flags = copy.create("").front();
  Value code = arith::ShRUIOp::create(*builder, loc, flags, constant(2));
  Value number = arith::AndIOp::create(*builder, loc, code, constant(255));
  Value isPart = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ne,
                                       code, constant(0));
  return {isPart, add(number, constant(-1)),
          arith::ShRUIOp::create(*builder, loc, code, constant(8))};
}

/// Bit 0 says whether the item is run again, which a part counts as, bit 1 its
/// slot among the verdicts.
void WorkItemLowering::unpackVerdict(Value work, Value flags, bool isCut) {
  if (!isCut) {
    redos[work] =
        arith::TruncIOp::create(*builder, loc, builder->getI1Type(), flags);
    verdictSlots[work] =
        arith::ShRUIOp::create(*builder, loc, flags, constant(1));
    return;
  }
  Value others =
      arith::AndIOp::create(*builder, loc, flags, constant(~int64_t(2)));
  redos[work] = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ne,
                                      others, constant(0));
  Value slot = arith::ShRUIOp::create(*builder, loc, flags, constant(1));
  verdictSlots[work] = arith::AndIOp::create(*builder, loc, slot, constant(1));
}

/// An item as it lies in shared memory. No item is row block -1.
Value WorkItemLowering::packItem(Value work) {
  auto [block, head, batch] = works[work];
  block = arith::SelectOp::create(*builder, loc, exists.lookup(work), block,
                                  constant(-1));
  Value flags = constant(0);
  if (Value redo = redos.lookup(work)) {
    // Bit 0: run once more; bit 1: where the verdict is given.
    Value bit =
        arith::ExtUIOp::create(*builder, loc, builder->getI32Type(), redo);
    flags = add(bit, mul(verdictSlots.lookup(work), 2));
  }
  if (auto part = partsOf.find(work); part != partsOf.end()) {
    flags = add(flags, packPart(part->second));
  }
  auto type = VectorType::get(4, builder->getI32Type());
  return vector::FromElementsOp::create(*builder, loc, type,
                                        ValueRange{block, head, batch, flags});
}

void WorkItemLowering::unpackItem(Value work, Value packed, bool hasVerdicts) {
  auto part = [&](int64_t i) -> Value {
    return vector::ExtractOp::create(*builder, loc, packed,
                                     ArrayRef<int64_t>{i});
  };
  works[work] = {part(0), part(1), part(2)};
  bool isCut = kernel.getConfig().getLastWaveParts() > 1;
  Value flags = hasVerdicts || isCut ? part(3) : Value();
  if (isCut) {
    packedParts[work] = flags;
  }
  if (hasVerdicts) {
    unpackVerdict(work, flags, isCut);
  }
  exists[work] = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::sge,
                                       works[work][0], constant(0));
}

/// Slots of work items are offsets by now.
Value WorkItemLowering::slotPointer(Value slot) {
  auto offset = slot.getDefiningOp<ws::SlotAtOp>().getOffset();
  return sharedPointer(smemAddress(offset));
}

void WorkItemLowering::lowerPutWork(ws::PutWorkOp op) {
  LLVM::StoreOp::create(*builder, loc, packItem(op.getWork()),
                        slotPointer(op.getSlot()), ws::workItemBytes);
}

void WorkItemLowering::lowerGetWork(ws::GetWorkOp op) {
  auto type = VectorType::get(4, builder->getI32Type());
  Value place = LLVM::LoadOp::create(
      *builder, loc, type, slotPointer(op.getSlot()), ws::workItemBytes);
  if (!isSingleThread) {
    // One lane gives the slot back for its warp.
    NVVM::SyncWarpOp::create(*builder, loc, constant(-1));
  }
  unpackItem(op.getWork(), place, hasVerdict());
}

/// A second run uses no answer; of a cluster the first CTA asks.
void WorkItemLowering::lowerFetchWork(ws::FetchWorkOp op) {
  // Blocks and heads first: the other order takes other registers.
  Value items =
      arith::MulIOp::create(*builder, loc, taken.getBlocks(), taken.getHeads());
  items = arith::MulIOp::create(*builder, loc, items, taken.getBatches());
  items = countItems(taken, items);
  OpBuilder::InsertionGuard guard(*builder);
  auto enterIf = [&](Value condition) {
    auto branch =
        scf::IfOp::create(*builder, loc, condition, /*withElseRegion=*/false);
    builder->setInsertionPointToStart(branch.thenBlock());
  };
  if (sharesItems()) {
    enterIf(isFirstOfCluster());
  }
  if (Value second = redos.lookup(op.getWork())) {
    Value yes = arith::ConstantIntOp::create(*builder, loc, 1, 1);
    enterIf(arith::XOrIOp::create(*builder, loc, second, yes));
  }
  LLVM::StoreOp::create(*builder, loc, takeFromCounter(items), answer);
}
