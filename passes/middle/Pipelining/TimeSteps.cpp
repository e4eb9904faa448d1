// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of time: which entries run, on which versions of what they read, and
// what is awaited and released around them.
#include "LoopExpander.h"

using namespace mlir;
using namespace attn;

void LoopExpander::noteRead(ws::EntryOp reader, Value value) {
  auto [source, age] = loop.getSource(value, reader.getShift());
  if (!source) {
    return;
  }
  int64_t &oldest = maxAge[source];
  oldest = std::max(oldest, age);
}

/// A branch may go round a masked entry, which therefore releases nothing. All
/// of them have one shift.
LogicalResult LoopExpander::noteMasked(ws::EntryOp entry) {
  for (Value value : entry.getCaptures()) {
    if (isa<ws::SlotType>(value.getType())) {
      return entry.emitOpError("attn-pipeline: expected masked entries to read "
                               "no slot, got ")
             << value.getType();
    }
  }
  anyMasked = true;
  maskShift = entry.getShift();
  return success();
}

LogicalResult LoopExpander::analyze() {
  yield = loop.getBody().front().getTerminator();
  for (auto entry : loop.getBody().getOps<ws::EntryOp>()) {
    entries.push_back(entry);
    maxShift = std::max<int64_t>(maxShift, entry.getShift());
    if (entry.getPassthrough() && failed(noteMasked(entry))) {
      return failure();
    }
    if (entry.getShift() > 1) {
      return entry.emitOpError("attn-pipeline: expected a shift of at most 1 "
                               "for '")
             << entry.getName() << "', got " << entry.getShift();
    }
  }
  llvm::sort(entries, [](ws::EntryOp a, ws::EntryOp b) {
    return a.getSlot() < b.getSlot();
  });
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard() == "last" && maxShift == 0) {
      return entry.emitOpError("attn-pipeline: no lowering for 'last' in a "
                               "loop without shifts");
    }
    for (Value value : entry.getCaptures()) {
      noteRead(entry, value);
    }
  }
  for (Value value : yield->getOperands()) {
    auto [source, age] = loop.getSource(value, maxShift);
    if (!source) {
      return loop.emitOpError("attn-pipeline: expected carried values to be "
                              "made by entries");
    }
    int64_t &oldest = maxAge[source];
    oldest = std::max(oldest, age);
  }
  return success();
}

/// Iteration -1 of a carried value is its initial one.
void LoopExpander::seed(int64_t time) {
  for (auto [value, init] : llvm::zip(yield->getOperands(), loop.getInits())) {
    auto result = cast<OpResult>(value);
    if (shiftOf(result) - 1 == time) {
      auto &ages = history[result];
      if (ages.empty()) {
        ages.push_back({});
      }
      ages[0] = init;
    }
  }
}

void LoopExpander::advance() {
  for (auto &[value, ages] : history) {
    ages.insert(ages.begin(), Value());
  }
}

Value LoopExpander::blockNumber(int64_t shift, Value time) {
  if (!loop.getRanges().isDown()) { // top - shift + time
    Value start = arith::SubIOp::create(builder, loc, top, constant(shift));
    return arith::AddIOp::create(builder, loc, start, time);
  }
  // top - 1 - (time - shift)
  Value start = arith::AddIOp::create(builder, loc, top, constant(shift - 1));
  return arith::SubIOp::create(builder, loc, start, time);
}

Value LoopExpander::countBlocks(Value from, Value to) {
  if (loop.getRanges().isDown()) {
    std::swap(from, to);
  }
  return arith::SubIOp::create(builder, loc, to, from);
}

Value LoopExpander::lookup(Value value, int64_t readerShift) {
  auto [source, age] = loop.getSource(value, readerShift);
  if (!source) {
    return value;
  }
  auto found = history.find(source);
  if (found == history.end() || (int64_t)found->second.size() <= age) {
    return {};
  }
  return found->second[age];
}

void LoopExpander::awaitThrough(size_t count) {
  for (InFlight &op : MutableArrayRef(inFlight).take_front(count)) {
    Value done = ws::AwaitOp::create(builder, loc, op.result.getType(),
                                     op.result, op.token);
    for (auto &[value, ages] : history) {
      for (Value &version : ages) {
        if (version == op.result) {
          version = done;
        }
      }
    }
    for (Value slot : op.releases) {
      ws::ReleaseOp::create(builder, loc, slot);
    }
  }
  inFlight.erase(inFlight.begin(), inFlight.begin() + count);
}

void LoopExpander::awaitStep(StringRef entry) {
  for (size_t i = inFlight.size(); i-- > 0;) {
    if (inFlight[i].entry == entry) {
      return awaitThrough(i + 1);
    }
  }
}

/// Awaits the MMAs after which an entry runs, as far as they are in flight.
void LoopExpander::awaitListed(ws::EntryOp entry) {
  size_t count = 0;
  for (auto [i, op] : llvm::enumerate(inFlight)) {
    auto name = FlatSymbolRefAttr::get(entry.getContext(), op.entry);
    if (entry.getAfter() && llvm::is_contained(*entry.getAfter(), name)) {
      count = i + 1;
    }
  }
  awaitThrough(count);
}

SmallVector<Value> LoopExpander::releasesOf(ws::EntryOp entry) {
  SmallVector<Value> releases;
  for (Value slot : entry.getReleases()) {
    releases.push_back(lookup(slot, entry.getShift()));
  }
  return releases;
}

void LoopExpander::passThrough(ws::EntryOp entry) {
  auto &ages = history[entry->getResult(0)];
  if (ages.empty()) {
    ages.push_back({});
  }
  ages[0] = lookup(entry.getPassthrough(), entry.getShift());
}

LogicalResult LoopExpander::mapCaptures(ws::EntryOp entry, const TimeStep &step,
                                        IRMapping &mapping) {
  for (Value value : entry.getCaptures()) {
    Value version = value == loop.getBody().getArgument(0)
                        ? blockNumber(entry.getShift(), step.time)
                        : lookup(value, entry.getShift());
    if (!version) {
      return entry.emitOpError("attn-pipeline: expected what '")
             << entry.getName() << "' reads to have a value wherever it runs";
    }
    mapping.map(value, version);
  }
  return success();
}

LogicalResult LoopExpander::emitEntry(ws::EntryOp entry, const TimeStep &step) {
  if (auto await = dyn_cast<ws::AwaitStepOp>(entry.getBody().front().front())) {
    awaitStep(await.getStep());
    return success();
  }
  awaitListed(entry);
  IRMapping mapping;
  if (failed(mapCaptures(entry, step, mapping))) {
    return failure();
  }
  bool isMma = false;
  auto releases = releasesOf(entry);
  for (Operation &op : entry.getBody().front().without_terminator()) {
    Operation *cloned = builder.clone(op, mapping);
    if (auto mma = dyn_cast<ws::MmaOp>(cloned)) {
      isMma = true;
      inFlight.push_back(
          {entry.getName(), mma.getResult(), mma.getToken(), releases});
    }
  }
  Operation *terminator = entry.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip(entry->getResults(), terminator->getOperands())) {
    auto &ages = history[result];
    if (ages.empty()) {
      ages.push_back({});
    }
    ages[0] = mapping.lookupOrDefault(value);
  }
  if (!isMma) {
    for (Value slot : releases) {
      ws::ReleaseOp::create(builder, loc, slot);
    }
  }
  return success();
}

/// An entry that steps of masked ranges have and others do not.
LogicalResult LoopExpander::emitMaskedEntry(ws::EntryOp entry,
                                            const TimeStep &step) {
  if (!step.masked) {
    passThrough(entry);
    return success();
  }
  if (!step.isMasked) {
    return emitEntry(entry, step);
  }
  awaitListed(entry);
  auto branch = scf::IfOp::create(builder, loc, entry->getResultTypes(),
                                  step.isMasked, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc,
                       lookup(entry.getPassthrough(), entry.getShift()));
  builder.setInsertionPointToEnd(branch.thenBlock());
  if (failed(emitEntry(entry, step))) {
    return failure();
  }
  Value &made = history[entry->getResult(0)][0];
  scf::YieldOp::create(builder, loc, made);
  made = branch.getResult(0);
  return success();
}

LogicalResult LoopExpander::emitStep(const TimeStep &step) {
  for (ws::EntryOp entry : entries) {
    int64_t shift = entry.getShift();
    bool runs = shift >= step.minShift && shift <= step.maxShift;
    if (entry.getGuard()) {
      runs = (step.first && *entry.getGuard() == "once") ||
             (step.last && *entry.getGuard() == "last");
    }
    if (!runs) {
      continue;
    }
    LogicalResult emitted = entry.getPassthrough()
                                ? emitMaskedEntry(entry, step)
                                : emitEntry(entry, step);
    if (failed(emitted)) {
      return failure();
    }
  }
  ++copies;
  // Nothing stays in flight across code copies.
  awaitThrough(inFlight.size());
  return success();
}
