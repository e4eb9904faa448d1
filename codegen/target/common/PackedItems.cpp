// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A work item in shared memory: row block, head, batch and a word of flags. Bit
// 0 of the flags is set in a second run, bit 1 is the slot of the verdict; bits
// 2 to 9 are 0, or 1 plus the number of the part; the others are the number of
// the item among those that are cut.
#include "WorkItems.h"
#include "attn/codegen/target/InlineAsm.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static Value packPart(const ItemOps &emit, const ItemPart &part) {
  Value code =
      emit.add(emit.mul(part.item, 256), emit.add(part.part, emit.constant(1)));
  return emit.mul(emit.select(part.isPart, code, emit.constant(0)), 4);
}

Value codegen::packItem(const ItemOps &emit, const RoleItem &item) {
  auto [block, head, batch] = item.coords;
  block = emit.select(item.exists, block, emit.constant(-1));
  Value flags = emit.constant(0);
  if (item.second) {
    Value bit = arith::ExtUIOp::create(emit.builder, emit.loc,
                                       emit.builder.getI32Type(), item.second);
    flags = emit.add(bit, emit.mul(item.verdictSlot, 2));
  }
  if (item.part) {
    flags = emit.add(flags, packPart(emit, *item.part));
  }
  auto type = VectorType::get(4, emit.builder.getI32Type());
  return vector::FromElementsOp::create(emit.builder, emit.loc, type,
                                        ValueRange{block, head, batch, flags});
}

static void unpackVerdict(const ItemOps &emit, RoleItem &item, Value flags) {
  if (!emit.items.params.hasCut()) {
    item.second = arith::TruncIOp::create(emit.builder, emit.loc,
                                          emit.builder.getI1Type(), flags);
    item.verdictSlot = emit.shiftRight(flags, 1);
    return;
  }
  Value others = emit.bitAnd(flags, ~int64_t(2));
  item.withCare =
      emit.compare(arith::CmpIPredicate::ne, others, emit.constant(0));
  item.verdictSlot = emit.bitAnd(emit.shiftRight(flags, 1), 1);
}

RoleItem codegen::unpackItem(const ItemOps &emit, Value packed) {
  RoleItem item;
  item.coords = {emit.element(packed, 0), emit.element(packed, 1),
                 emit.element(packed, 2)};
  bool isRejectable = bool(emit.items.verdict());
  Value flags = isRejectable || emit.items.params.hasCut()
                    ? emit.element(packed, 3)
                    : Value();
  if (emit.items.params.hasCut()) {
    item.packedPart = flags;
  }
  if (isRejectable) {
    unpackVerdict(emit, item, flags);
  }
  item.exists =
      emit.compare(arith::CmpIPredicate::sge, item.coords[0], emit.constant(0));
  return item;
}

ItemPart codegen::partOf(const ItemOps &emit, const RoleItem &item) {
  if (item.part) {
    return *item.part;
  }
  // The copy keeps the unpacking here: few registers are free in the loop.
  InlineAsm copy(emit.builder, emit.loc);
  copy.addReadWrite(item.packedPart);
  Value flags = copy.create("").front();
  Value code = emit.shiftRight(flags, 2);
  Value number = emit.bitAnd(code, 255);
  Value isPart = emit.compare(arith::CmpIPredicate::ne, code, emit.constant(0));
  return {isPart, emit.add(number, -1), emit.shiftRight(code, 8)};
}
