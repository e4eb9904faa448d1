// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rejected items, where one role hands items out: it takes their verdicts two
// turns later and hands them out once more.
#include "WorkItemLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

// Verdict n has barrier n mod 2, in that barrier's phase n div 2.
static_assert(ws::verdictRing == 2);

namespace {

/// Of the role that hands out items (ws::handOutWords).
enum HandOutWord : int64_t { turnWord, knownWord, beforeWord, lastWord };

/// Arithmetic on flags and numbers.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  Value both(Value a, Value b) const {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value either(Value a, Value b) const {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value isNot(Value flag) const {
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    return arith::XOrIOp::create(builder, loc, flag, yes);
  }
  /// One more where `flag` holds.
  Value count(Value number, Value flag) const {
    Value one = arith::ExtUIOp::create(builder, loc, number.getType(), flag);
    return arith::AddIOp::create(builder, loc, number, one);
  }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value isBelow(Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
  }
};

} // namespace

Value WorkItemLowering::sharedWord(Value offset) {
  return sharedPointer(smemAddress(offset));
}

Value WorkItemLowering::load(Value variable) {
  return LLVM::LoadOp::create(*builder, loc, builder->getI32Type(), variable);
}

/// Waits for verdict `number` and forgets it: whether its item was rejected.
Value WorkItemLowering::takeVerdict(int64_t verdicts, Value number) {
  Value slot = arith::AndIOp::create(*builder, loc, number, constant(1));
  Value round = arith::ShRUIOp::create(*builder, loc, number, constant(1));
  Value parity = arith::AndIOp::create(*builder, loc, round, constant(1));
  Value barrier =
      sharedWord(add(mul(slot, ws::barrierBytes), constant(verdicts)));
  nvx::MbarrierWaitOp::create(*builder, loc, barrier, parity);
  int64_t words = verdicts + ws::verdictRing * ws::barrierBytes;
  Value word = sharedWord(add(mul(slot, 4), constant(words)));
  Value said = load(word);
  LLVM::StoreOp::create(*builder, loc, constant(0), word);
  return arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ne, said,
                               constant(0));
}

/// Takes verdict `number` where `due`; else nothing was rejected.
Value WorkItemLowering::takeVerdictIf(Value due, int64_t verdicts,
                                      Value number) {
  auto branch = scf::IfOp::create(*builder, loc, builder->getI1Type(), due,
                                  /*withElseRegion=*/true);
  OpBuilder *outer = builder;
  OpBuilder taken = branch.getThenBodyBuilder();
  builder = &taken;
  scf::YieldOp::create(taken, loc, takeVerdict(verdicts, number));
  builder = outer;
  OpBuilder other = branch.getElseBodyBuilder();
  Value no = arith::ConstantIntOp::create(other, loc, 0, 1);
  scf::YieldOp::create(other, loc, no);
  return branch.getResult(0);
}

/// Before turn t the role that hands out items knows the verdicts of all turns
/// but t - 1, and that one too where no new item is left. An item that was
/// rejected comes before new ones. Second results are not rejected, so the role
/// ends.
void WorkItemLowering::lowerChooseItem(ws::ChooseItemOp op) {
  auto declared = kernel.lookupSymbol<ws::VerdictOp>(op.getVerdict());
  int64_t verdicts = *declared.getOffset();
  Scalars scalars{*builder, loc};
  int64_t words = verdicts + ws::verdictRing * (ws::barrierBytes + 4);
  auto variable = [&](HandOutWord word) {
    return sharedWord(constant(words + 4 * word));
  };
  Value turn = load(variable(turnWord)), known = load(variable(knownWord));
  Value before = load(variable(beforeWord)), last = load(variable(lastWord));

  Value due = scalars.isBelow(add(known, constant(1)), turn);
  Value again = takeVerdictIf(due, verdicts, known);
  known = scalars.count(known, due);
  Value none = scalars.isNot(scalars.either(op.getNextExists(), again));
  Value drains = scalars.both(none, scalars.isBelow(known, turn));
  Value againLast = takeVerdictIf(drains, verdicts, known);
  known = scalars.count(known, drains);

  Value number = scalars.select(again, before,
                                scalars.select(againLast, last, op.getNext()));
  Value second = scalars.either(again, againLast);
  Value isItem = scalars.either(second, op.getNextExists());
  Value slot = scalars.both(turn, constant(1));

  auto store = [&](Value value, HandOutWord word) {
    LLVM::StoreOp::create(*builder, loc, value, variable(word));
  };
  store(add(turn, constant(1)), turnWord);
  store(known, knownWord);
  store(last, beforeWord);
  store(number, lastWord);
  op->replaceAllUsesWith(ValueRange{number, isItem, second, slot});
}
