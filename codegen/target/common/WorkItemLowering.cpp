// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops that give a role its work items: the item of a turn, and items
// that one role takes from a counter and hands out.
#include "InstructionLowering.h"
#include "attn/codegen/target/InlineAsm.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// The counter's answer to the last fetch; at first, the one that gives the CTA
/// the item of its own number, which needs no counter.
void InstructionLowering::createAnswer(tile::NextWorkOp next) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  Value one = arith::ConstantIntOp::create(entry, loc, 1, 32);
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext());
  answer = LLVM::AllocaOp::create(entry, loc, ptr, builder->getI32Type(), one);
  Value inFlight = itemsInFlight();
  Value first = arith::SubIOp::create(*builder, loc, item, inFlight);
  if (next.getWhole()) {
    first = createFirstAnswer(next, first, inFlight);
  }
  LLVM::StoreOp::create(*builder, loc, first, answer);
}

/// Parts are handed out in order, since one waits for those before it: where a
/// CTA's first item may be a part it comes from the counter too, which then
/// counts from -grid.
Value InstructionLowering::createFirstAnswer(tile::NextWorkOp next, Value first,
                                             Value grid) {
  Value mayBePart =
      arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult,
                            values.lookup(next.getWhole()), grid);
  uncounted =
      arith::SelectOp::create(*builder, loc, mayBePart, grid, constant(0));
  partsDivisor =
      Divisor::prepare(*builder, loc, values.lookup(next.getParts()));
  auto branch = scf::IfOp::create(*builder, loc, builder->getI32Type(),
                                  mayBePart, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*builder);
  builder->setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*builder, loc, takeFromCounter(countItems(next)));
  builder->setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*builder, loc, first);
  return branch.getResult(0);
}

/// As many items as there are have been asked for when the last CTA ends: the
/// counter then wraps to 0, as the next launch expects it.
Value InstructionLowering::takeFromCounter(Value items) {
  Value last = arith::SubIOp::create(*builder, loc, items, constant(1));
  if (uncounted) {
    last = add(last, uncounted);
  }
  Value taken = LLVM::AtomicRMWOp::create(
      *builder, loc, LLVM::AtomicBinOp::uinc_wrap, workspace(), last,
      LLVM::AtomicOrdering::monotonic, "device");
  return uncounted ? arith::SubIOp::create(*builder, loc, taken, uncounted)
                         .getResult()
                   : taken;
}

/// For divisions in the loop by what does not change in it.
void InstructionLowering::prepareDivisors(ws::WorkLoopOp loop) {
  divisors.clear(); // Those of other roles do not dominate this one.
  if (loop.getMailbox()) {
    return; // Sharing items leaves the role no registers for them.
  }
  loop.walk([&](arith::DivUIOp op) {
    Value divisor = values.lookupOrNull(op.getRhs());
    if (divisor && !loop->isAncestor(op.getRhs().getDefiningOp())) {
      divisors.try_emplace(divisor, Divisor::prepare(*builder, loc, divisor));
    }
  });
}

/// A loop that ends in its middle: what follows ws.end_unless_work is skipped,
/// and no turn follows.
LogicalResult InstructionLowering::lowerHandedOut(ws::WorkLoopOp op) {
  auto ends = op.getBody().getOps<ws::EndUnlessWorkOp>();
  if (!llvm::hasSingleElement(ends)) {
    return op.emitOpError("attn-lower-to-nvvm: expected one "
                          "'ws.end_unless_work' for work 'dynamic', got ")
           << std::distance(ends.begin(), ends.end());
  }
  ws::EndUnlessWorkOp end = *ends.begin();
  auto next = op.getBody().getOps<tile::NextWorkOp>();
  if (!next.empty()) {
    createAnswer(*next.begin());
    if (!op.getMailbox()) {
      places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(),
                          extentsOf(*next.begin()), /*manyItems=*/true);
    }
  }
  prepareDivisors(op);
  Block &body = op.getBody().front();
  Block::iterator at = end->getIterator();
  auto loop = scf::WhileOp::create(*builder, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(*builder);
  OpBuilder turn =
      OpBuilder::atBlockBegin(builder->createBlock(&loop.getBefore()));
  if (failed(lowerOps(llvm::make_range(body.begin(), at), turn))) {
    return failure();
  }
  Value more = exists.lookup(end.getWork());
  auto branch = scf::IfOp::create(turn, loc, more, /*withElseRegion=*/false);
  OpBuilder rest = branch.getThenBodyBuilder();
  if (failed(lowerOps(llvm::make_range(std::next(at), body.end()), rest))) {
    return failure();
  }
  scf::ConditionOp::create(turn, loc, more, ValueRange());
  builder->createBlock(&loop.getAfter());
  scf::YieldOp::create(*builder, loc);
  return success();
}

WorkExtents InstructionLowering::extentsOf(tile::NextWorkOp op) {
  return {values.lookup(op.getBlocks()), values.lookup(op.getHeads()),
          values.lookup(op.getBatches()), values.lookupOrNull(op.getSection())};
}

/// Items that are handed out: those that are cut count once a part.
Value InstructionLowering::countItems(tile::NextWorkOp op) {
  Value items = extentsOf(op).count(*builder, loc);
  if (!op.getWhole()) {
    return items;
  }
  Value whole = values.lookup(op.getWhole());
  Value cut = arith::SubIOp::create(*builder, loc, items, whole);
  Value inParts =
      arith::MulIOp::create(*builder, loc, cut, values.lookup(op.getParts()));
  return add(whole, inParts);
}

/// Of an item as handed out, which part of which item it is; the number of the
/// latter.
Value InstructionLowering::findPart(tile::NextWorkOp op) {
  Value whole = values.lookup(op.getWhole());
  Value isPart = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::uge,
                                       item, whole);
  Value past = arith::SubIOp::create(*builder, loc, item, whole);
  auto [cutItem, part] = partsDivisor.divide(*builder, loc, past);
  partsOf[op.getWork()] = {isPart, part, cutItem};
  return arith::SelectOp::create(*builder, loc, isPart, add(whole, cutItem),
                                 item);
}

void InstructionLowering::lowerNextWork(tile::NextWorkOp op) {
  if (op->getParentOfType<ws::WorkLoopOp>().getMailbox()) {
    shareItem(op);
    return;
  }
  takeItem(op);
  if (clusterSize() > 1) {
    Value &block = works[op.getWork()][0];
    block = add(mul(block, clusterSize()), rankInCluster());
  }
}

/// The item of this turn, of a CTA or of all CTAs of a cluster.
void InstructionLowering::takeItem(tile::NextWorkOp op) {
  WorkExtents extents = extentsOf(op);
  redos[op.getWork()] = redoOfGrid;
  // Nor does it for what the places of items have in common.
  bool isShared =
      op->getParentOfType<ws::WorkLoopOp>().getMailbox().has_value();
  if (isShared || kernel.getConfig().getWork() != WorkKind::Dynamic) {
    places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(), extents,
                        /*manyItems=*/false);
  }
  if (kernel.getConfig().getWork() == WorkKind::Dynamic) {
    // The items of the first turn came without the counter. This is the first
    // use of its answer.
    Value inFlight = itemsInFlight();
    item = add(load(answer), inFlight);
    Value isNew = arith::CmpIOp::create(
        *builder, loc, arith::CmpIPredicate::ult, item, countItems(op));
    exists[op.getWork()] = isNew;
    if (op->getParentOfType<ws::WorkLoopOp>().getVerdicts()) {
      chooseItem(op, isNew);
    }
  }
  Value placed = op.getWhole() ? findPart(op) : item;
  works[op.getWork()] = places.of(*builder, loc, placed);
}

/// Bits 2 to 9: 0, or 1 more than the number of the part; the others: that of
/// the item among those that are cut.
Value InstructionLowering::packPart(const Part &part) {
  Value code = add(mul(part.item, 256), add(part.part, constant(1)));
  Value some =
      arith::SelectOp::create(*builder, loc, part.isPart, code, constant(0));
  return mul(some, 4);
}

InstructionLowering::Part InstructionLowering::partOf(Value work) {
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
void InstructionLowering::unpackVerdict(Value work, Value flags, bool isCut) {
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
Value InstructionLowering::packItem(Value work) {
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

void InstructionLowering::unpackItem(Value work, Value packed,
                                     bool hasVerdicts) {
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

void InstructionLowering::lowerPutWork(ws::PutWorkOp op) {
  LLVM::StoreOp::create(*builder, loc, packItem(op.getWork()),
                        sharedPointer(slotAddress(op.getSlot())),
                        ws::workItemBytes);
}

void InstructionLowering::lowerGetWork(ws::GetWorkOp op) {
  auto type = VectorType::get(4, builder->getI32Type());
  Value place = LLVM::LoadOp::create(*builder, loc, type,
                                     sharedPointer(slotAddress(op.getSlot())),
                                     ws::workItemBytes);
  if (!op->getParentOfType<ws::RoleOp>().isSingleThread()) {
    // One lane gives the slot back for its warp.
    NVVM::SyncWarpOp::create(*builder, loc, constant(-1));
  }
  auto loop = op->getParentOfType<ws::WorkLoopOp>();
  unpackItem(op.getWork(), place, loop.getVerdicts().has_value());
}

void InstructionLowering::lowerFetchWork(ws::FetchWorkOp op) {
  auto loop = op->getParentOfType<ws::WorkLoopOp>();
  auto next = *loop.getBody().getOps<tile::NextWorkOp>().begin();
  OpBuilder::InsertionGuard guard(*builder);
  auto onlyIf = [&](Value condition) {
    auto branch =
        scf::IfOp::create(*builder, loc, condition, /*withElseRegion=*/false);
    builder->setInsertionPointToStart(branch.thenBlock());
  };
  if (loop.getMailbox()) {
    onlyIf(isFirstOfCluster());
  }
  if (Value redo = redos.lookup(next.getWork())) {
    // The counter's answer is still to be used.
    Value yes = arith::ConstantIntOp::create(*builder, loc, 1, 1);
    onlyIf(arith::XOrIOp::create(*builder, loc, redo, yes));
  }
  Value taken = takeFromCounter(values.lookup(op.getItems()));
  LLVM::StoreOp::create(*builder, loc, taken, answer);
}
