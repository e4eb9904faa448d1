// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the streaming loop and its entries; labels are those of
// WsOps.td.
#include "attn/dialect/Ws.h"

using namespace mlir;
using namespace attn::ws;

std::pair<OpResult, int64_t> ForOp::getSource(Value value,
                                              int64_t readerShift) {
  int64_t age = readerShift;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *yield = &getBody().front().back();
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() != &getBody().front() || number == 0 ||
        number > yield->getNumOperands()) {
      return {};
    }
    value = yield->getOperand(number - 1);
    ++age;
  }
  auto result = dyn_cast<OpResult>(value);
  auto entry = result ? dyn_cast<EntryOp>(result.getOwner()) : EntryOp();
  if (!entry || entry->getParentOp() != getOperation()) {
    return {};
  }
  return {result, age - static_cast<int64_t>(entry.getShift())};
}

llvm::SetVector<Value> EntryOp::getCaptures() {
  llvm::SetVector<Value> captures;
  if (getPassthrough()) {
    captures.insert(getPassthrough());
  }
  captures.insert_range(getReleases());
  getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!getBody().isAncestor(operand.getParentRegion())) {
        captures.insert(operand);
      }
    }
  });
  return captures;
}

/// Checks that the body ends with a ws.yield of `types`.
static LogicalResult verifyYield(Operation *op, Block &block, TypeRange types) {
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield) {
    return op->emitOpError("expected the body to end with 'ws.yield', got '")
           << block.back().getName() << "'";
  }
  if (yield.getValues().getTypes() != types) {
    return yield.emitOpError("expected to yield (")
           << types << "), got (" << yield.getValues().getTypes() << ")";
  }
  return success();
}

/// C2 of ws.for.
static LogicalResult verifyRanges(ForOp loop) {
  size_t last = loop.getRanges().size() - 1;
  for (auto [number, range] : llvm::enumerate(loop.getRanges().getList())) {
    bool isEnd = number == 0 || number == last;
    if (range.getKind() == attn::tile::RangeKind::Skipped && !isEnd) {
      return loop.emitOpError("expected the first and the last range alone to "
                              "be skipped, got range ")
             << number;
    }
  }
  return attn::tile::verifyRanges(loop, loop.getRanges(), loop.getBounds());
}

/// C5 of ws.for.
static LogicalResult verifyCarried(ForOp loop) {
  SmallVector<Type> arguments{IntegerType::get(loop.getContext(), 32)};
  llvm::append_range(arguments, loop.getInits().getTypes());
  Block &block = loop.getBody().front();
  if (block.getArgumentTypes() != TypeRange(arguments)) {
    return loop.emitOpError("expected block arguments (")
           << TypeRange(arguments) << "), got (" << block.getArgumentTypes()
           << ")";
  }
  return verifyYield(loop, block, loop.getResultTypes());
}

/// C1 and C3 of ws.for.
static LogicalResult verifyEntries(ForOp loop) {
  llvm::SmallDenseSet<int64_t> issues;
  std::optional<int64_t> maskedShift;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    auto entry = dyn_cast<EntryOp>(op);
    if (!entry) { // C1
      return op.emitOpError("expected only 'ws.entry' in the body of 'ws.for'");
    }
    if (!issues.insert(entry.getIssue()).second) {
      return entry.emitOpError("expected an 'issue' of its own, got ")
             << entry.getIssue() << " a second time";
    }
    int64_t shift = entry.getShift();
    if (!entry.getPassthrough()) {
      continue;
    }
    if (maskedShift && *maskedShift != shift) { // C3
      return entry.emitOpError("expected masked entries to have one shift, "
                               "got ")
             << shift << " after " << *maskedShift;
    }
    maskedShift = shift;
  }
  return success();
}

/// C4 of ws.for.
static LogicalResult verifyOrder(ForOp loop, EntryOp reader) {
  for (Value value : reader.getCaptures()) {
    auto [source, age] = loop.getSource(value, reader.getShift());
    if (!source) {
      continue;
    }
    auto writer = cast<EntryOp>(source.getOwner());
    if (age < 0 || (age == 0 && writer.getIssue() >= reader.getIssue())) {
      InFlightDiagnostic error =
          reader.emitOpError("V8: expected what '")
          << reader.getName() << "' reads to be computed before, got '"
          << writer.getName() << "' of issue " << writer.getIssue()
          << ", shift " << writer.getShift();
      error.attachNote(writer.getLoc()) << "the entry that computes it";
      return error;
    }
  }
  return success();
}

/// C6 of ws.for.
static LogicalResult verifyAwaits(ForOp loop) {
  llvm::DenseSet<StringAttr> matrices;
  for (auto entry : loop.getBody().getOps<EntryOp>()) {
    if (!entry.getBody().getOps<MmaOp>().empty()) {
      matrices.insert(entry.getNameAttr());
    }
  }
  auto check = [&](Operation *op, FlatSymbolRefAttr name) -> LogicalResult {
    if (matrices.contains(name.getAttr())) {
      return success();
    }
    return op->emitOpError("expected an entry of the loop that holds a "
                           "'ws.mma', got ")
           << name;
  };
  WalkResult result = loop.walk([&](Operation *op) {
    LogicalResult checked = success();
    if (auto await = dyn_cast<AwaitStepOp>(op)) {
      checked = check(await, await.getStepAttr());
    }
    auto entry = dyn_cast<EntryOp>(op);
    if (entry && entry.getAfter()) {
      for (auto name : entry.getAfterAttr().getAsRange<FlatSymbolRefAttr>()) {
        checked = failure(failed(checked) || failed(check(entry, name)));
      }
    }
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// C7 of ws.for.
static LogicalResult verifyEnds(ForOp loop) {
  bool skips =
      llvm::any_of(loop.getRanges().getList(), [](attn::tile::RangeAttr range) {
        return range.getKind() == attn::tile::RangeKind::Skipped;
      });
  if (skips == loop.getSkipped().empty()) {
    return loop.emitOpError("expected the region 'skipped' where a range is of "
                            "that kind, and nowhere else, got ")
           << (skips ? "the range alone" : "the region alone");
  }
  bool shifts =
      llvm::any_of(loop.getBody().getOps<EntryOp>(),
                   [](EntryOp entry) { return entry.getShift() > 0; });
  if (!loop.getDrain().empty() && !shifts) {
    return loop.emitOpError("expected an entry with a shift where there is a "
                            "region 'drain', got none");
  }
  for (Region *region :
       {&loop.getSkipped(), &loop.getDrain(), &loop.getEmpty()}) {
    if (region->empty()) {
      continue;
    }
    Block &block = region->front();
    auto yield = dyn_cast<YieldOp>(block.back());
    if (block.getNumArguments() != 0 || !yield || yield.getNumOperands() != 0) {
      return loop.emitOpError("expected 'skipped', 'drain' and 'empty' without "
                              "arguments and results, got ")
             << block.getNumArguments() << " and "
             << (yield ? yield.getNumOperands() : 0);
    }
  }
  return success();
}

LogicalResult ForOp::verifyRegions() {
  if (failed(verifyRanges(*this)) || failed(verifyCarried(*this)) ||
      failed(verifyEntries(*this)) || failed(verifyAwaits(*this)) ||
      failed(verifyEnds(*this))) {
    return failure();
  }
  for (auto entry : getBody().getOps<EntryOp>()) {
    if (failed(verifyOrder(*this, entry))) {
      return failure();
    }
  }
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  if (getGuard() && *getGuard() != attn::Guard::Once &&
      *getGuard() != attn::Guard::Last) { // C2
    return emitOpError("expected guard 'once' or 'last', got '")
           << attn::stringifyGuard(*getGuard()) << "'";
  }
  if (getGuard() && getNumResults() != 0) {
    return emitOpError("expected no results of a guarded entry, got ")
           << getNumResults();
  }
  if (getPassthrough() &&
      (getNumResults() != 1 ||
       getResult(0).getType() != getPassthrough().getType())) { // C3
    return emitOpError("expected one result of type ")
           << getPassthrough().getType() << " of a masked entry, got ("
           << getResultTypes() << ")";
  }
  Block &block = getBody().front();
  if (failed(verifyYield(*this, block, getResultTypes()))) { // C4
    return failure();
  }
  auto mmas = block.getOps<MmaOp>(); // C6
  if (std::distance(mmas.begin(), mmas.end()) > 1) {
    return emitOpError("expected at most one 'ws.mma', got ")
           << std::distance(mmas.begin(), mmas.end());
  }
  for (auto await : block.getOps<AwaitStepOp>()) { // C5
    if (getAfter() || !getReleases().empty()) {
      return emitOpError("expected an entry of 'ws.await_step' without 'after' "
                         "and 'releases', got some");
    }
    if (block.getOperations().size() != 2) {
      return await.emitOpError("expected to be alone in its entry, got ")
             << block.getOperations().size() - 2 << " other ops";
    }
  }
  return success();
}
