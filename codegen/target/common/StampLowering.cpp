// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps: each thread has a cursor, the place of its next stamp, in a register.
// It is beyond the end in all threads that write none, so that no stamp
// branches. Roles of one thread have few registers, and are seldom in a hurry:
// their cursors are in shared memory.
#include "InstructionLowering.h"
#include "JoinLayout.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

std::optional<StampLayout> StampLayout::of(ws::KernelOp kernel) {
  auto stamps = kernel.getBody().getOps<ws::StampsOp>();
  if (stamps.empty()) {
    return std::nullopt;
  }
  StampLayout layout;
  bool hasCounter = kernel.getConfig().getWork() == WorkKind::Dynamic;
  layout.offset = hasCounter ? alignment : 0;
  if (JoinLayout::isIn(kernel)) {
    layout.offset = JoinLayout::countsEnd;
  }
  layout.events = (*stamps.begin()).getEvents();
  layout.ctas = (*stamps.begin()).getCtas();
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    layout.instances += role.getReplicas();
  }
  kernel.walk([&](ws::StampOp stamp) {
    if (!llvm::is_contained(layout.names, nameOf(stamp))) {
      layout.names.push_back(nameOf(stamp));
    }
  });
  return layout;
}

/// The start of the workspace.
Value InstructionLowering::workspace() {
  const Param *param =
      llvm::find(params, Param{Param::Workspace, 0, 0, {}, {}});
  return function.getArgument(param - params.begin());
}

/// The replicas of the roles before this one.
static int64_t countBefore(ws::RoleOp role) {
  int64_t before = 0;
  auto kernel = role->getParentOfType<ws::KernelOp>();
  for (auto other : kernel.getBody().getOps<ws::RoleOp>()) {
    if (other == role) {
      break;
    }
    before += other.getReplicas();
  }
  return before;
}

/// The variable with the place of the next stamp.
Value InstructionLowering::stampCursor() {
  return cursor ? cursor : sharedPointer(smemAddress(constant(sharedCursor)));
}

/// The number of this replica's ring, or -1 in a thread that writes no stamps.
Value InstructionLowering::stampRing(ws::RoleOp role) {
  Type i32 = builder->getI32Type();
  auto compare = [&](arith::CmpIPredicate how, Value a, Value b) -> Value {
    return arith::CmpIOp::create(*builder, loc, how, a, b);
  };
  using Predicate = arith::CmpIPredicate;
  Value cta = NVVM::BlockIdXOp::create(*builder, loc, i32);
  Value ctas = NVVM::GridDimXOp::create(*builder, loc, i32);
  Value isFirst = compare(Predicate::ult, cta, constant(stamps->ctas));
  Value isLast = compare(Predicate::eq, add(cta, constant(1)), ctas);
  Value writes = arith::OrIOp::create(*builder, loc, isFirst, isLast);
  if (!role.isSingleThread()) {
    Value thread = arith::AndIOp::create(*builder, loc, tid(), constant(127));
    Value isZero = compare(Predicate::eq, thread, constant(0));
    writes = arith::AndIOp::create(*builder, loc, writes, isZero);
  }
  Value place = arith::SelectOp::create(*builder, loc, isFirst, cta,
                                        constant(stamps->ctas));
  Value replica = values.lookup(role.getBody().getArgument(0));
  Value instance = add(replica, constant(countBefore(role)));
  Value ring = add(mul(place, stamps->instances), instance);
  return arith::SelectOp::create(*builder, loc, writes, ring, constant(-1));
}

/// One half of a ring's header; the time comes by itself.
void InstructionLowering::writeStampHeader(Value ring, int64_t half,
                                           Value word) {
  Type i32 = builder->getI32Type();
  Value isKept = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::sge,
                                       ring, constant(0));
  auto branch =
      scf::IfOp::create(*builder, loc, isKept, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*builder);
  builder->setInsertionPointToStart(branch.thenBlock());
  Value clock = NVVM::ClockOp::create(*builder, loc, i32);
  Value time =
      NVVM::GlobalTimerOp::create(*builder, loc, builder->getI64Type());
  Value low = arith::TruncIOp::create(*builder, loc, i32, time);
  Value shift = arith::ConstantIntOp::create(*builder, loc, 32, 64);
  Value upper = arith::ShRUIOp::create(*builder, loc, time, shift);
  Value high = arith::TruncIOp::create(*builder, loc, i32, upper);
  Value words =
      vector::FromElementsOp::create(*builder, loc, VectorType::get(4, i32),
                                     ValueRange{clock, word, low, high});
  Value at =
      add(mul(ring, StampLayout::headerBytes),
          constant(stamps->offset + half * StampLayout::headerBytes / 2));
  Value base = workspace();
  Value pointer = LLVM::GEPOp::create(*builder, loc, base.getType(),
                                      builder->getI8Type(), base, at);
  LLVM::StoreOp::create(*builder, loc, words, pointer, 16);
}

void InstructionLowering::beginStamps(ws::RoleOp role, OpBuilder &at) {
  if (!stamps) {
    return;
  }
  builder = &at;
  cursor = Value();
  if (role.isSingleThread()) {
    sharedCursor = static_cast<int64_t>(*kernel.getSmemBytes()) -
                   stamps->sharedBytes() +
                   StampLayout::cursorBytes * countBefore(role);
  } else {
    OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
    Value one = arith::ConstantIntOp::create(entry, loc, 1, 32);
    auto ptr = LLVM::LLVMPointerType::get(builder->getContext());
    cursor =
        LLVM::AllocaOp::create(entry, loc, ptr, builder->getI32Type(), one);
  }
  Value ring = stampRing(role);
  Value isKept = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::sge,
                                       ring, constant(0));
  Value first =
      add(mul(ring, StampLayout::eventBytes), constant(stamps->first()));
  Value start = arith::SelectOp::create(*builder, loc, isKept, first,
                                        constant(INT32_MIN));
  LLVM::StoreOp::create(*builder, loc, start, stampCursor());
  Value sm = NVVM::SmIdOp::create(*builder, loc, builder->getI32Type());
  writeStampHeader(ring, 0, sm);
}

void InstructionLowering::lowerStamp(ws::StampOp op) {
  Value variable = stampCursor();
  Value next = nvx::StampOp::create(
      *builder, loc, builder->getI32Type(), workspace(), load(variable),
      stamps->idOf(op), stamps->end(), stamps->stride());
  LLVM::StoreOp::create(*builder, loc, next, variable);
}

/// The ring follows from the cursor: no register has to hold it.
void InstructionLowering::endStamps(OpBuilder &at) {
  if (!stamps) {
    return;
  }
  builder = &at;
  Value last = load(stampCursor());
  Value isKept = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::sge,
                                       last, constant(0));
  Value bytes =
      arith::SubIOp::create(*builder, loc, last, constant(stamps->first()));
  Value count =
      arith::DivUIOp::create(*builder, loc, bytes, constant(stamps->stride()));
  Value inRow =
      arith::RemUIOp::create(*builder, loc, bytes, constant(stamps->stride()));
  Value ring = arith::DivUIOp::create(*builder, loc, inRow,
                                      constant(StampLayout::eventBytes));
  ring = arith::SelectOp::create(*builder, loc, isKept, ring, constant(-1));
  writeStampHeader(ring, 1, count);
}
