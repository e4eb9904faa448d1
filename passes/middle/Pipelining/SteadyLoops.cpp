// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steady time steps, with masks and without.
#include "LoopExpander.h"

using namespace mlir;
using namespace attn;

LogicalResult
LoopExpander::emitSteadyLoop(Value from, Value to, bool masked,
                             function_ref<Value(Value)> isMasked) {
  auto carried = values.carried();
  SmallVector<Value> inits;
  for (auto [value, age] : carried) {
    Value version = values.get(value, age);
    if (!version) {
      auto entry = cast<ws::EntryOp>(value.getOwner());
      return entry.emitOpError("V8: '")
             << entry.getName()
             << "' is read in the steady loop before its first value exists";
    }
    inits.push_back(version);
  }
  auto steady =
      scf::ForOp::create(builder, loc, from, to, ranges.constant(1), inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = steady.getBody();
    if (!body->empty()) {
      body->back().erase();
    }
    builder.setInsertionPointToEnd(body);
    for (auto [i, pair] : llvm::enumerate(carried)) {
      values.set(pair.first, pair.second, steady.getRegionIterArg(i));
    }
    values.advance();
    Value time = steady.getInductionVar();
    if (failed(steps.write({time, 0, steps.maxShift, masked, /*first=*/false,
                            /*last=*/false,
                            isMasked ? isMasked(time) : Value()}))) {
      return failure();
    }
    SmallVector<Value> yielded;
    for (auto [value, age] : carried) {
      yielded.push_back(values.get(value, age));
    }
    scf::YieldOp::create(builder, loc, yielded);
  }
  values.clear();
  for (auto [i, pair] : llvm::enumerate(carried)) {
    values.set(pair.first, pair.second, steady.getResult(i));
  }
  return success();
}

/// Whether a range has no blocks after the prologue.
bool LoopExpander::firstStepEnds(size_t range) {
  return hasPrologue() && range == 0 && ranges.isMasked(range) &&
         ranges.end() > 1 && steps.maskShift == 0 &&
         ranges.hasOneBlockAtMost(range);
}

/// Returns the time at which masked entries have run for all blocks down to the
/// end of a range.
Value LoopExpander::timeOfEnd(size_t range) {
  Value blocks =
      ranges.countBlocks(ranges.firstBlock(), loop.getBounds()[range + 1]);
  return arith::AddIOp::create(builder, loc, blocks,
                               ranges.constant(steps.maskShift));
}

/// Emits one steady loop for each range: no step has a branch.
LogicalResult LoopExpander::emitLoopsOfRanges(Value from) {
  for (size_t range = ranges.first(); range < ranges.end(); ++range) {
    if (firstStepEnds(range)) {
      continue;
    }
    Value to = trips;
    if (range + 1 < ranges.end()) {
      to = arith::MinSIOp::create(builder, loc, timeOfEnd(range), trips);
      to = arith::MaxSIOp::create(builder, loc, to, from);
    }
    if (failed(emitSteadyLoop(from, to, ranges.isMasked(range)))) {
      return failure();
    }
    from = to;
  }
  return success();
}

/// Emits one steady loop, whose steps branch around the masked entries: less
/// code than one loop for each range.
LogicalResult LoopExpander::emitLoopOfAllRanges(Value from) {
  SmallVector<size_t> masked;
  SmallVector<Value> ends(ranges.end());
  for (size_t range = ranges.first(); range < ranges.end(); ++range) {
    if (ranges.isMasked(range) && !firstStepEnds(range)) {
      masked.push_back(range);
    }
    if (range + 1 < ranges.end()) {
      ends[range] = timeOfEnd(range);
    }
  }
  bool differ = masked.size() < ranges.end() - ranges.first();
  if (masked.empty() || !differ) {
    return emitSteadyLoop(from, trips, !masked.empty());
  }
  auto isMaskedAt = [&](Value time) {
    Value any;
    for (size_t range : masked) {
      Value begin = range > ranges.first() ? ends[range - 1] : Value();
      Value inside = ranges.isBetween(time, begin, ends[range]);
      any = any ? arith::OrIOp::create(builder, loc, any, inside) : inside;
    }
    return any;
  };
  return emitSteadyLoop(from, trips, /*masked=*/true, isMaskedAt);
}

LogicalResult LoopExpander::emitSteadyLoops(Value from) {
  if (steps.anyMasked && peel == Peel::FirstMasked) {
    return emitLoopsOfRanges(from);
  }
  if (steps.anyMasked && masksUnderBranch()) {
    return emitLoopOfAllRanges(from);
  }
  return emitSteadyLoop(from, trips, steps.anyMasked);
}
