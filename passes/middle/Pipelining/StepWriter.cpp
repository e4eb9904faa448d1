// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepWriter.h"

using namespace mlir;
using namespace attn;

/// Checks a masked entry: a branch may skip it, so it must not release
/// anything. All masked entries have the same shift.
LogicalResult StepWriter::noteMasked(ws::EntryOp entry) {
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

LogicalResult StepWriter::analyze() {
  for (auto entry : loop.getBody().getOps<ws::EntryOp>()) {
    entries.push_back(entry);
    maxShift = std::max<int64_t>(maxShift, entry.getShift());
    anyGuarded |= entry.getGuard().has_value();
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
    return a.getIssue() < b.getIssue();
  });
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard() == Guard::Last && maxShift == 0) {
      return entry.emitOpError("attn-pipeline: no lowering for 'last' in a "
                               "loop without shifts");
    }
    for (Value value : entry.getCaptures()) {
      values.noteRead(value, entry.getShift());
    }
  }
  Operation *yield = loop.getBody().front().getTerminator();
  for (Value value : yield->getOperands()) {
    if (!values.noteRead(value, maxShift)) {
      return loop.emitOpError("attn-pipeline: expected carried values to be "
                              "made by entries");
    }
  }
  return success();
}

void StepWriter::awaitThrough(size_t count) {
  for (IssuedMma &op : MutableArrayRef(inFlight).take_front(count)) {
    Value done = ws::AwaitOp::create(builder, loop.getLoc(),
                                     op.result.getType(), op.result, op.token);
    values.replace(op.result, done);
    for (Value slot : op.releases) {
      ws::ReleaseOp::create(builder, loop.getLoc(), slot);
    }
  }
  inFlight.erase(inFlight.begin(), inFlight.begin() + count);
}

void StepWriter::awaitStep(StringRef entry) {
  for (size_t i = inFlight.size(); i-- > 0;) {
    if (inFlight[i].entry == entry) {
      return awaitThrough(i + 1);
    }
  }
}

/// Awaits those MMAs of the list `after` that are in flight.
void StepWriter::awaitListed(ws::EntryOp entry) {
  size_t count = 0;
  for (auto [i, op] : llvm::enumerate(inFlight)) {
    auto name = FlatSymbolRefAttr::get(entry.getContext(), op.entry);
    if (entry.getAfter() && llvm::is_contained(*entry.getAfter(), name)) {
      count = i + 1;
    }
  }
  awaitThrough(count);
}

SmallVector<Value> StepWriter::releasesOf(ws::EntryOp entry) {
  SmallVector<Value> releases;
  for (Value slot : entry.getReleases()) {
    releases.push_back(values.lookup(slot, entry.getShift()));
  }
  return releases;
}

LogicalResult StepWriter::mapCaptures(ws::EntryOp entry, const TimeStep &step,
                                      IRMapping &mapping) {
  for (Value value : entry.getCaptures()) {
    Value version = value == loop.getBody().getArgument(0)
                        ? ranges.blockNumber(entry.getShift(), step.time)
                        : values.lookup(value, entry.getShift());
    if (!version) {
      return entry.emitOpError("attn-pipeline: expected each operand of '")
             << entry.getName() << "' to have a value wherever it runs";
    }
    mapping.map(value, version);
  }
  return success();
}

LogicalResult StepWriter::emitEntry(ws::EntryOp entry, const TimeStep &step) {
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
    values.set(result, 0, mapping.lookupOrDefault(value));
  }
  if (!isMma) {
    for (Value slot : releases) {
      ws::ReleaseOp::create(builder, loop.getLoc(), slot);
    }
  }
  return success();
}

/// Emits an entry that only the steps of masked ranges have.
LogicalResult StepWriter::emitMaskedEntry(ws::EntryOp entry,
                                          const TimeStep &step) {
  auto result = cast<OpResult>(entry->getResult(0));
  if (!step.masked) {
    values.set(result, 0,
               values.lookup(entry.getPassthrough(), entry.getShift()));
    return success();
  }
  if (!step.isMasked) {
    return emitEntry(entry, step);
  }
  awaitListed(entry);
  auto branch =
      scf::IfOp::create(builder, loop.getLoc(), entry->getResultTypes(),
                        step.isMasked, /*addThenBlock=*/true,
                        /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loop.getLoc(),
                       values.lookup(entry.getPassthrough(), entry.getShift()));
  builder.setInsertionPointToEnd(branch.thenBlock());
  if (failed(emitEntry(entry, step))) {
    return failure();
  }
  scf::YieldOp::create(builder, loop.getLoc(), values.get(result, 0));
  values.set(result, 0, branch.getResult(0));
  return success();
}

LogicalResult StepWriter::write(const TimeStep &step) {
  for (ws::EntryOp entry : entries) {
    int64_t shift = entry.getShift();
    bool runs = shift >= step.minShift && shift <= step.maxShift;
    if (entry.getGuard()) {
      runs = (step.first && *entry.getGuard() == Guard::Once) ||
             (step.last && *entry.getGuard() == Guard::Last);
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
  // No MMA stays in flight across copies of the code.
  awaitThrough(inFlight.size());
  return success();
}
