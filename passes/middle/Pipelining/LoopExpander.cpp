// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopExpander.h"

using namespace mlir;
using namespace attn;

SmallVector<Value> LoopExpander::finalValues() {
  SmallVector<Value> finals;
  Operation *yield = loop.getBody().front().getTerminator();
  for (Value value : yield->getOperands()) {
    finals.push_back(values.lookup(value, steps.maxShift));
  }
  return finals;
}

bool LoopExpander::masksUnderBranch() const {
  return peel == Peel::FirstBranch || peel == Peel::ShiftedBranch;
}

/// Whether the first time step is written before the steady loops.
bool LoopExpander::hasPrologue() const {
  return peel != Peel::ShiftedBranch || steps.maxShift != 0 || steps.anyGuarded;
}

/// Returns whether the first step has masks, if only it may have them and
/// rarely does.
Value LoopExpander::isFirstMasked() {
  if (!steps.anyMasked || ranges.anyMasked(1) || !masksUnderBranch() ||
      !firstStepEnds(0)) {
    return {};
  }
  return ranges.beginsBefore(loop.getBounds()[1]);
}

LogicalResult LoopExpander::emitNonempty() {
  values.setInitial(-1);
  Value zero = ranges.constant(0);
  if (!hasPrologue()) {
    return emitSteadyLoops(zero);
  }
  Value one = ranges.constant(1);
  values.advance();
  values.setInitial(0);
  if (failed(steps.write({zero, 0, 0, steps.anyMasked, /*first=*/true,
                          /*last=*/false, isFirstMasked()})) ||
      failed(emitSteadyLoops(one))) {
    return failure();
  }
  if (steps.maxShift == 0) {
    return success();
  }
  cloneRegion(loop.getDrain());
  values.advance();
  return steps.write({trips,
                      1,
                      steps.maxShift,
                      steps.anyMasked,
                      /*first=*/false,
                      /*last=*/true,
                      {}});
}

void LoopExpander::cloneRegion(Region &region) {
  IRMapping mapping;
  if (!region.empty()) {
    for (Operation &op : region.front().without_terminator()) {
      builder.clone(op, mapping);
    }
  }
}

/// Passes on the blocks of a skipped range, if the range is one.
void LoopExpander::emitSkipped(size_t range) {
  if (!ranges.isSkipped(range)) {
    return;
  }
  Value count =
      ranges.countBlocks(loop.getBounds()[range], loop.getBounds()[range + 1]);
  auto skipped = scf::ForOp::create(builder, loc, ranges.constant(0), count,
                                    ranges.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(skipped.getBody());
  cloneRegion(loop.getSkipped());
}

FailureOr<scf::IfOp> LoopExpander::run() {
  if (failed(steps.analyze())) {
    return failure();
  }
  emitSkipped(0);
  trips = ranges.countBlocks(ranges.firstBlock(), ranges.lastBound());
  Value nonempty = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, trips, ranges.constant(0));
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
  builder.setInsertionPointAfter(branch);
  if (size_t last = loop.getRanges().size() - 1; last > 0) {
    emitSkipped(last);
  }
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
  return branch;
}
