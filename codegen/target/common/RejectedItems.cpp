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

Value WorkItemLowering::sharedWord(Value offset) {
  return sharedPointer(smemAddress(offset));
}

Value WorkItemLowering::load(Value variable) {
  return LLVM::LoadOp::create(*builder, loc, builder->getI32Type(), variable);
}

/// Waits for verdict `number` and forgets it: whether its item was rejected.
Value WorkItemLowering::takeVerdict(ws::VerdictMemory verdicts, Value number) {
  Value slot = arith::AndIOp::create(*builder, loc, number, constant(1));
  Value round = arith::ShRUIOp::create(*builder, loc, number, constant(1));
  Value parity = arith::AndIOp::create(*builder, loc, round, constant(1));
  Value barrier = sharedWord(
      add(mul(slot, ws::barrierBytes), constant(verdicts.barrier(0))));
  nvx::MbarrierWaitOp::create(*builder, loc, barrier, parity);
  Value word =
      sharedWord(add(mul(slot, ws::wordBytes), constant(verdicts.word(0))));
  Value said = load(word);
  LLVM::StoreOp::create(*builder, loc, constant(0), word);
  return arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ne, said,
                               constant(0));
}

/// If `due`, takes verdict `number`; otherwise returns "accepted".
Value WorkItemLowering::takeVerdictIf(Value due, ws::VerdictMemory verdicts,
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

namespace {

/// Numbers and flags of `ws::chooseItem`, computed by ops.
struct EmittedScalars {
  OpBuilder &builder;
  Location loc;
  function_ref<Value(Value due, Value number)> takeVerdictIf;

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
  Value following(Value number) const {
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    return arith::AddIOp::create(builder, loc, number, one);
  }
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
  Value slotOf(Value turn) const {
    return both(turn, arith::ConstantIntOp::create(builder, loc, 1, 32));
  }
};

} // namespace

void WorkItemLowering::lowerChooseItem(ws::ChooseItemOp op) {
  auto declared = kernel.lookupSymbol<ws::VerdictOp>(op.getVerdict());
  ws::VerdictMemory verdicts = ws::memoryOf(declared);
  auto variable = [&](ws::HandOutWord word) {
    return sharedWord(constant(verdicts.handOut(word)));
  };
  ws::HandOutState<Value> state;
  state.turn = load(variable(ws::turnWord));
  state.known = load(variable(ws::knownWord));
  state.before = load(variable(ws::beforeWord));
  state.last = load(variable(ws::lastWord));
  EmittedScalars scalars{*builder, loc, [&](Value due, Value number) {
                           return takeVerdictIf(due, verdicts, number);
                         }};
  auto chosen = ws::chooseItem(scalars, state, numbers.lookup(op.getNext()),
                               exists.lookup(op.getNext()));
  auto store = [&](Value value, ws::HandOutWord word) {
    LLVM::StoreOp::create(*builder, loc, value, variable(word));
  };
  store(chosen.state.turn, ws::turnWord);
  store(chosen.state.known, ws::knownWord);
  store(chosen.state.before, ws::beforeWord);
  store(chosen.state.last, ws::lastWord);
  numbers[op.getWork()] = chosen.number;
  exists[op.getWork()] = chosen.exists;
  redos[op.getWork()] = chosen.second;
  verdictSlots[op.getWork()] = chosen.slot;
  findItem(taken, op.getWork());
}
