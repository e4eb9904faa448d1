// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps that repeat, with masks and without.
#include "LoopExpander.h"

using namespace mlir;
using namespace attn;

/// What the loop carries from one step of time to the next.
SmallVector<std::pair<OpResult, int64_t>> LoopExpander::carriedHistory() {
  SmallVector<std::pair<OpResult, int64_t>> carried;
  for (auto [value, oldest] : maxAge) {
    for (int64_t age = 0; age < oldest; ++age) {
      carried.push_back({value, age});
    }
  }
  return carried;
}

LogicalResult
LoopExpander::emitSteadyLoop(Value from, Value to, bool masked,
                             function_ref<Value(Value)> isMasked) {
  auto carried = carriedHistory();
  SmallVector<Value> inits;
  for (auto [value, age] : carried) {
    auto &ages = history[value];
    if ((int64_t)ages.size() <= age || !ages[age]) {
      return entryOf(value).emitOpError("V8: '")
             << entryOf(value).getName()
             << "' is read in the steady loop before its first value exists";
    }
    inits.push_back(ages[age]);
  }
  auto steady = scf::ForOp::create(builder, loc, from, to, constant(1), inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = steady.getBody();
    if (!body->empty()) {
      body->back().erase();
    }
    builder.setInsertionPointToEnd(body);
    for (auto [i, pair] : llvm::enumerate(carried)) {
      history[pair.first][pair.second] = steady.getRegionIterArg(i);
    }
    advance();
    Value time = steady.getInductionVar();
    if (failed(
            emitStep({time, 0, maxShift, masked, /*first=*/false,
                      /*last=*/false, isMasked ? isMasked(time) : Value()}))) {
      return failure();
    }
    SmallVector<Value> yielded;
    for (auto [value, age] : carried) {
      yielded.push_back(history[value][age]);
    }
    scf::YieldOp::create(builder, loc, yielded);
  }
  for (auto &[value, ages] : history) {
    ages.assign(1, Value());
  }
  for (auto [i, pair] : llvm::enumerate(carried)) {
    auto &ages = history[pair.first];
    if ((int64_t)ages.size() <= pair.second) {
      ages.resize(pair.second + 1);
    }
    ages[pair.second] = steady.getResult(i);
  }
  return success();
}

/// Whether the first step is all that a range has.
bool LoopExpander::firstStepEnds(size_t range) {
  return range == 0 && isMasked(range) && endOfRanges() > 1 && maskShift == 0 &&
         loop.getRanges()[range].getAtMost().value_or(2) <= 1;
}

/// When masked entries have run for all blocks down to the end of a range.
Value LoopExpander::timeOfEnd(size_t range) {
  Value blocks = countBlocks(top, loop.getBounds()[range + 1]);
  return arith::AddIOp::create(builder, loc, blocks, constant(maskShift));
}

/// One steady loop a range: no step decides anything.
LogicalResult LoopExpander::emitLoopsOfRanges(Value from) {
  for (size_t range = firstRange(); range < endOfRanges(); ++range) {
    if (firstStepEnds(range)) {
      continue;
    }
    Value to = trips;
    if (range + 1 < endOfRanges()) {
      to = arith::MinSIOp::create(builder, loc, timeOfEnd(range), trips);
      to = arith::MaxSIOp::create(builder, loc, to, from);
    }
    if (failed(emitSteadyLoop(from, to, isMasked(range)))) {
      return failure();
    }
    from = to;
  }
  return success();
}

/// Null bounds hold for all times.
Value LoopExpander::isBetween(Value time, Value from, Value to) {
  Value before, after;
  if (to) {
    before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                   time, to);
  }
  if (from) {
    after = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, time,
                                  from);
  }
  return before && after
             ? arith::AndIOp::create(builder, loc, before, after).getResult()
             : (before ? before : after);
}

/// One steady loop, whose steps branch round the masked entries: less code than
/// a loop a range.
LogicalResult LoopExpander::emitLoopOfAllRanges(Value from) {
  SmallVector<size_t> masked;
  SmallVector<Value> ends(endOfRanges());
  for (size_t range = firstRange(); range < endOfRanges(); ++range) {
    if (isMasked(range) && !firstStepEnds(range)) {
      masked.push_back(range);
    }
    if (range + 1 < endOfRanges()) {
      ends[range] = timeOfEnd(range);
    }
  }
  bool differ = masked.size() < endOfRanges() - firstRange();
  if (masked.empty() || !differ) {
    return emitSteadyLoop(from, trips, !masked.empty());
  }
  auto isMaskedAt = [&](Value time) {
    Value any;
    for (size_t range : masked) {
      Value begin = range > firstRange() ? ends[range - 1] : Value();
      Value inside = isBetween(time, begin, ends[range]);
      any = any ? arith::OrIOp::create(builder, loc, any, inside) : inside;
    }
    return any;
  };
  return emitSteadyLoop(from, trips, /*masked=*/true, isMaskedAt);
}

LogicalResult LoopExpander::emitSteadyLoops(Value from) {
  if (anyMasked && peel == Peel::FirstMasked) {
    return emitLoopsOfRanges(from);
  }
  if (anyMasked && peel == Peel::FirstBranch) {
    return emitLoopOfAllRanges(from);
  }
  return emitSteadyLoop(from, trips, anyMasked);
}
