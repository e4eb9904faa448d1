// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers the ops that give a role its work items: the item of a turn, and items
// that one role takes from a counter and hands out.
#include "InstructionLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// The counter's answer to the last fetch; at first, the one that gives the CTA
/// the item of its own number, which needs no counter.
void InstructionLowering::createAnswer() {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  Value one = arith::ConstantIntOp::create(entry, loc, 1, 32);
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext());
  answer = LLVM::AllocaOp::create(entry, loc, ptr, builder->getI32Type(), one);
  Value first = arith::SubIOp::create(*builder, loc, item, itemsInFlight());
  LLVM::StoreOp::create(*builder, loc, first, answer);
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
    createAnswer();
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
    Value isNew =
        arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult, item,
                              extents.count(*builder, loc));
    exists[op.getWork()] = isNew;
    if (op->getParentOfType<ws::WorkLoopOp>().getVerdicts()) {
      chooseItem(op, isNew);
    }
  }
  works[op.getWork()] = places.of(*builder, loc, item);
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
  if (hasVerdicts) {
    Value flags = part(3);
    redos[work] =
        arith::TruncIOp::create(*builder, loc, builder->getI1Type(), flags);
    verdictSlots[work] =
        arith::ShRUIOp::create(*builder, loc, flags, constant(1));
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

/// As many items as there are have been asked for when the last CTA ends: the
/// counter then wraps to 0, as the next launch expects it.
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
  Value last = arith::SubIOp::create(*builder, loc,
                                     values.lookup(op.getItems()), constant(1));
  Value taken = LLVM::AtomicRMWOp::create(
      *builder, loc, LLVM::AtomicBinOp::uinc_wrap, workspace(), last,
      LLVM::AtomicOrdering::monotonic, "device");
  LLVM::StoreOp::create(*builder, loc, taken, answer);
}
