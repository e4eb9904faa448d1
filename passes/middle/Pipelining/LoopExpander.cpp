// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopExpander.h"

using namespace mlir;
using namespace attn;

SmallVector<Value> LoopExpander::finalValues() {
  SmallVector<Value> values;
  for (Value value : yield->getOperands()) {
    values.push_back(lookup(value, maxShift));
  }
  return values;
}

/// Where only the first step may have masks, and seldom does, whether it does.
Value LoopExpander::isFirstMasked() {
  bool othersMasked = false;
  for (size_t range = 1; range < endOfRanges(); ++range) {
    othersMasked |= isMasked(range);
  }
  if (!anyMasked || othersMasked || peel != Peel::FirstBranch ||
      !firstStepEnds(0)) {
    return {};
  }
  auto before = loop.getRanges().isDown() ? arith::CmpIPredicate::sgt
                                          : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(builder, loc, before, top, loop.getBounds()[1]);
}

LogicalResult LoopExpander::emitNonempty() {
  seed(-1);
  advance();
  seed(0);
  Value zero = constant(0), one = constant(1);
  if (failed(emitStep({zero, 0, 0, anyMasked, true, false, isFirstMasked()})) ||
      failed(emitSteadyLoops(one))) {
    return failure();
  }
  if (maxShift == 0) {
    return success();
  }
  cloneRegion(loop.getDrain());
  advance();
  return emitStep({trips, 1, maxShift, anyMasked, false, true, {}});
}

void LoopExpander::cloneRegion(Region &region) {
  IRMapping mapping;
  if (!region.empty()) {
    for (Operation &op : region.front().without_terminator()) {
      builder.clone(op, mapping);
    }
  }
}

void LoopExpander::emitSkipped() {
  Value count = countBlocks(loop.getBounds()[0], top);
  auto skipped =
      scf::ForOp::create(builder, loc, constant(0), count, constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(skipped.getBody());
  cloneRegion(loop.getSkipped());
}

FailureOr<scf::IfOp> LoopExpander::run() {
  if (failed(analyze())) {
    return failure();
  }
  top = loop.getBounds()[skips() ? 1 : 0];
  if (skips()) {
    emitSkipped();
  }
  trips = countBlocks(top, loop.getBounds().back());
  Value nonempty = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, trips, constant(0));
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), nonempty,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    while (!block->empty()) {
      block->back().erase();
    }
  }
  builder.setInsertionPointToEnd(branch.thenBlock());
  if (failed(emitNonempty())) {
    return failure();
  }
  SmallVector<Value> finals = finalValues();
  for (Value value : finals) {
    if (!value) {
      return loop.emitOpError("attn-pipeline: a carried value has no value "
                              "at the loop's end");
    }
  }
  scf::YieldOp::create(builder, loc, finals);
  builder.setInsertionPointToEnd(branch.elseBlock());
  cloneRegion(loop.getEmpty());
  scf::YieldOp::create(builder, loc, loop.getInits());
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
  return branch;
}
