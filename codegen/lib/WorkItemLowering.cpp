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
  Value grid = NVVM::GridDimXOp::create(*builder, loc, builder->getI32Type());
  Value first = arith::SubIOp::create(*builder, loc, item, grid);
  LLVM::StoreOp::create(*builder, loc, first, answer);
}

/// For divisions in the loop by what does not change in it.
void InstructionLowering::prepareDivisors(ws::WorkLoopOp loop) {
  divisors.clear(); // Those of other roles do not dominate this one.
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
    places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(),
                        extentsOf(*next.begin()), /*manyItems=*/true);
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
  WorkExtents extents = extentsOf(op);
  redos[op.getWork()] = redoOfGrid;
  if (kernel.getConfig().getWork() != WorkKind::Dynamic) {
    places = ItemPlaces(*builder, loc, kernel.getConfig().getOrder(), extents,
                        /*manyItems=*/false);
  } else {
    // The items of the first turn came without the counter. This is the first
    // use of its answer.
    Type i32 = builder->getI32Type();
    Value grid = NVVM::GridDimXOp::create(*builder, loc, i32);
    item = add(LLVM::LoadOp::create(*builder, loc, i32, answer), grid);
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

/// No item is row block -1.
void InstructionLowering::lowerPutWork(ws::PutWorkOp op) {
  auto [block, head, batch] = works[op.getWork()];
  block = arith::SelectOp::create(*builder, loc, exists.lookup(op.getWork()),
                                  block, constant(-1));
  Value flags = constant(0);
  if (Value redo = redos.lookup(op.getWork())) {
    // Bit 0: run once more; bit 1: where the verdict is given.
    Value bit =
        arith::ExtUIOp::create(*builder, loc, builder->getI32Type(), redo);
    flags = add(bit, mul(verdictSlots.lookup(op.getWork()), 2));
  }
  auto type = VectorType::get(4, builder->getI32Type());
  Value place = vector::FromElementsOp::create(
      *builder, loc, type, ValueRange{block, head, batch, flags});
  LLVM::StoreOp::create(*builder, loc, place,
                        sharedPointer(slotAddress(op.getSlot())),
                        ws::workItemBytes);
}

void InstructionLowering::lowerGetWork(ws::GetWorkOp op) {
  auto type = VectorType::get(4, builder->getI32Type());
  Value place = LLVM::LoadOp::create(*builder, loc, type,
                                     sharedPointer(slotAddress(op.getSlot())),
                                     ws::workItemBytes);
  WorkPlace parts;
  for (int64_t i = 0; i < 3; ++i) {
    parts[i] =
        vector::ExtractOp::create(*builder, loc, place, ArrayRef<int64_t>{i});
  }
  if (!op->getParentOfType<ws::RoleOp>().isSingleThread()) {
    // One lane gives the slot back for its warp.
    NVVM::SyncWarpOp::create(*builder, loc, constant(-1));
  }
  works[op.getWork()] = parts;
  if (op->getParentOfType<ws::WorkLoopOp>().getVerdicts()) {
    Value flags =
        vector::ExtractOp::create(*builder, loc, place, ArrayRef<int64_t>{3});
    redos[op.getWork()] =
        arith::TruncIOp::create(*builder, loc, builder->getI1Type(), flags);
    verdictSlots[op.getWork()] =
        arith::ShRUIOp::create(*builder, loc, flags, constant(1));
  }
  exists[op.getWork()] = arith::CmpIOp::create(
      *builder, loc, arith::CmpIPredicate::sge, parts[0], constant(0));
}

/// As many items as there are have been asked for when the last CTA ends: the
/// counter then wraps to 0, as the next launch expects it.
void InstructionLowering::lowerFetchWork(ws::FetchWorkOp op) {
  auto loop = op->getParentOfType<ws::WorkLoopOp>();
  auto next = *loop.getBody().getOps<tile::NextWorkOp>().begin();
  OpBuilder::InsertionGuard guard(*builder);
  if (Value redo = redos.lookup(next.getWork())) {
    // The counter's answer is still to be used.
    Value yes = arith::ConstantIntOp::create(*builder, loc, 1, 1);
    Value used = arith::XOrIOp::create(*builder, loc, redo, yes);
    auto branch =
        scf::IfOp::create(*builder, loc, used, /*withElseRegion=*/false);
    builder->setInsertionPointToStart(branch.thenBlock());
  }
  Value last = arith::SubIOp::create(*builder, loc,
                                     values.lookup(op.getItems()), constant(1));
  Value taken = LLVM::AtomicRMWOp::create(
      *builder, loc, LLVM::AtomicBinOp::uinc_wrap, workspace(), last,
      LLVM::AtomicOrdering::monotonic, "device");
  LLVM::StoreOp::create(*builder, loc, taken, answer);
}
