// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items whose results some role refused, where one role hands items out: it
// learns of them two turns later and hands them out once more.
#include "InstructionLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Value InstructionLowering::load(Value variable) {
  return LLVM::LoadOp::create(*builder, loc, builder->getI32Type(), variable);
}

/// Waits for verdict number `number` where `due`, and forgets it: whether its
/// item was rejected.
Value InstructionLowering::awaitVerdict(int64_t verdicts, Value number,
                                        Value due) {
  auto branch = scf::IfOp::create(*builder, loc, builder->getI1Type(), due,
                                  /*withElseRegion=*/true);
  OpBuilder *outer = builder;
  OpBuilder inner = branch.getThenBodyBuilder();
  builder = &inner;
  Value slot = arith::AndIOp::create(inner, loc, number, constant(1));
  Value round = arith::ShRUIOp::create(inner, loc, number, constant(1));
  Value parity = arith::AndIOp::create(inner, loc, round, constant(1));
  Value barrier = sharedPointer(
      smemAddress(add(mul(slot, ws::barrierBytes), constant(verdicts))));
  nvx::MbarrierWaitOp::create(inner, loc, barrier, parity);
  Value word = sharedPointer(smemAddress(add(
      mul(slot, 4), constant(verdicts + ws::verdictRing * ws::barrierBytes))));
  Value said = load(word);
  LLVM::StoreOp::create(inner, loc, constant(0), word);
  Value rejected = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne,
                                         said, constant(0));
  scf::YieldOp::create(inner, loc, rejected);
  builder = outer;
  OpBuilder other = branch.getElseBodyBuilder();
  Value no = arith::ConstantIntOp::create(other, loc, 0, 1);
  scf::YieldOp::create(other, loc, no);
  return branch.getResult(0);
}

/// Before turn t the role that hands out items knows the verdicts of all turns
/// but t - 1, and that one too where no new item is left. An item that was
/// rejected comes before new ones.
void InstructionLowering::chooseItem(tile::NextWorkOp op, Value isNew) {
  int64_t verdicts = *op->getParentOfType<ws::WorkLoopOp>().getVerdicts();
  auto both = [&](Value a, Value b) -> Value {
    return arith::AndIOp::create(*builder, loc, a, b);
  };
  auto isNot = [&](Value a) -> Value {
    Value yes = arith::ConstantIntOp::create(*builder, loc, 1, 1);
    return arith::XOrIOp::create(*builder, loc, a, yes);
  };
  auto count = [&](Value number, Value due) -> Value {
    return add(number, arith::ExtUIOp::create(*builder, loc,
                                              builder->getI32Type(), due));
  };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(*builder, loc, condition, a, b);
  };
  // The number of this turn, that of the verdicts known, and the items of the
  // last two turns.
  int64_t words = verdicts + ws::verdictRing * (ws::barrierBytes + 4);
  auto variable = [&](int64_t index) {
    return sharedPointer(smemAddress(constant(words + 4 * index)));
  };
  Value turn = load(variable(0)), known = load(variable(1));
  Value before = load(variable(2)), last = load(variable(3));
  Value oldest = add(known, constant(2));
  Value due = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::uge,
                                    turn, oldest);
  Value again = awaitVerdict(verdicts, known, due);
  known = count(known, due);
  Value open = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult,
                                     known, turn);
  Value drains = both(open, both(isNot(isNew), isNot(again)));
  Value againLast = awaitVerdict(verdicts, known, drains);
  known = count(known, drains);
  item = select(again, before, select(againLast, last, item));
  Value redo = arith::OrIOp::create(*builder, loc, again, againLast);
  redos[op.getWork()] = redo;
  verdictSlots[op.getWork()] = both(turn, constant(1));
  exists[op.getWork()] =
      arith::OrIOp::create(*builder, loc, redo, exists[op.getWork()]);
  auto store = [&](Value value, Value variable) {
    LLVM::StoreOp::create(*builder, loc, value, variable);
  };
  store(add(turn, constant(1)), variable(0));
  store(known, variable(1));
  store(last, variable(2));
  store(item, variable(3));
}
