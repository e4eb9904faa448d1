// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-pipeline: expands the modulo schedule of each role's streaming loop into
// a prologue, a steady loop for all ranges or one for each, and an epilogue, in
// issue order.
#include "LastProduct.h"
#include "RangeSize.h"
#include "attn/passes/Passes.h"
#include "attn/support/Decision.h"

namespace attn {
#define GEN_PASS_DEF_PIPELINE
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// An MMA that has been issued and not yet awaited.
struct InFlight {
  StringRef entry;
  Value result, token;
  Value registerA; // the A operand's definition in the ws.for; null: in a slot
  StringRef holdA; // the hold that A lies in; empty: in none
  SmallVector<Value> releases;
};

/// Which code copy is being written.
struct TimeStep {
  Value time;                 // i32
  int64_t minShift, maxShift; // shifts of the entries that run
  bool masked, first, last;
  Value isMasked; // i1, whether masked entries run; null: as `masked` says
};

class LoopExpander {
public:
  LoopExpander(ws::ForOp loop, Peel peel)
      : loop(loop), peel(peel), builder(loop), loc(loop.getLoc()) {}

  /// The branch in place of the loop: its blocks, or what stands for none.
  FailureOr<scf::IfOp> run();
  /// How often the body has been written: prologue, steady loops, epilogue.
  int64_t getCopies() const { return copies; }
  int64_t getMaxShift() const { return maxShift; }

private:
  LogicalResult analyze();
  void noteRead(ws::EntryOp reader, Value value);

  void seed(int64_t time);
  void advance();
  LogicalResult emitStep(const TimeStep &step);
  LogicalResult emitEntry(ws::EntryOp entry, const TimeStep &step);
  LogicalResult emitMaskedEntry(ws::EntryOp entry, const TimeStep &step);
  LogicalResult mapCaptures(ws::EntryOp entry, const TimeStep &step,
                            IRMapping &mapping);
  void passThrough(ws::EntryOp entry);
  Value lookup(Value value, int64_t readerShift);
  Value blockNumber(int64_t shift, Value time);
  void awaitConflicts(ws::EntryOp entry);
  void awaitThrough(size_t count);
  void awaitStep(StringRef entry);
  SmallVector<Value> releasesOf(ws::EntryOp entry);

  LogicalResult emitSkipped();
  LogicalResult checkSkippedOrder();
  void takeEarlyReleases();
  void emitEarlyReleases();
  LogicalResult emitNonempty();
  LogicalResult emitSteadyLoops(Value from);
  LogicalResult emitLoopsOfRanges(Value from);
  LogicalResult emitLoopOfAllRanges(Value from);
  LogicalResult emitSteadyLoop(Value from, Value to, bool masked,
                               function_ref<Value(Value)> isMasked = {});
  bool firstStepEnds(size_t range);
  Value timeOfEnd(size_t range);
  Value isBetween(Value time, Value from, Value to);
  LogicalResult emitEmpty();
  SmallVector<Value> finalValues();
  SmallVector<std::pair<OpResult, int64_t>> carriedHistory();

  bool skips() {
    auto kind = cast<StringAttr>(loop.getKinds()[0]);
    return kind.getValue() == "skipped";
  }
  size_t firstRange() { return skips() ? 1 : 0; }
  size_t endOfRanges() { return loop.getKinds().size(); }
  bool isMasked(size_t range) {
    auto kind = cast<StringAttr>(loop.getKinds()[range]);
    return kind.getValue() == "masked";
  }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }

  ws::ForOp loop;
  Peel peel;
  OpBuilder builder;
  Location loc;
  Operation *yield = nullptr;
  SmallVector<ws::EntryOp> entries; // in issue order
  int64_t maxShift = 0, maskShift = 0, copies = 0;
  bool anyMasked = false;
  Value trips, top;
  /// history[v][a]: v as computed a steps of time ago.
  llvm::MapVector<OpResult, SmallVector<Value>> history;
  llvm::MapVector<OpResult, int64_t> maxAge;
  DenseMap<OpResult, ws::EntryOp> lastReader; // of slots
  SmallVector<InFlight> inFlight;
  /// Slots from outside the loop that the epilogue does not read.
  SmallVector<Value> earlyReleases;
};

ws::EntryOp entryOf(OpResult value) {
  return cast<ws::EntryOp>(value.getOwner());
}
int64_t shiftOf(OpResult value) { return entryOf(value).getShift(); }

void LoopExpander::noteRead(ws::EntryOp reader, Value value) {
  auto [source, age] = loop.getSource(value, reader.getShift());
  if (!source) {
    return;
  }
  int64_t &oldest = maxAge[source];
  oldest = std::max(oldest, age);
  if (isa<ws::SlotType>(source.getType())) {
    auto &last = lastReader[source];
    if (!last || std::make_pair(last.getShift(), last.getSlot()) <
                     std::make_pair(reader.getShift(), reader.getSlot())) {
      last = reader;
    }
  }
}

LogicalResult LoopExpander::analyze() {
  yield = loop.getBody().front().getTerminator();
  for (auto entry : loop.getBody().getOps<ws::EntryOp>()) {
    entries.push_back(entry);
    maxShift = std::max<int64_t>(maxShift, entry.getShift());
    if (entry.getPassthrough()) {
      anyMasked = true;
      maskShift = entry.getShift();
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
  // top - 1 - (time - shift)
  Value start = arith::AddIOp::create(builder, loc, top, constant(shift - 1));
  return arith::SubIOp::create(builder, loc, start, time);
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

/// An MMA is awaited before its result is touched and before the registers or
/// the hold of its A operand are written again.
void LoopExpander::awaitConflicts(ws::EntryOp entry) {
  size_t count = 0;
  SmallVector<Value> reads;
  for (Value value : entry.getCaptures()) {
    reads.push_back(lookup(value, entry.getShift()));
  }
  for (auto [i, op] : llvm::enumerate(inFlight)) {
    bool rewrites =
        op.registerA && op.registerA.getDefiningOp() == entry.getOperation();
    for (auto put : entry.getBody().getOps<ws::PutOp>()) {
      rewrites |= put.getHold() == op.holdA;
    }
    if (rewrites || llvm::is_contained(reads, op.result)) {
      count = i + 1;
    }
  }
  awaitThrough(count);
}

SmallVector<Value> LoopExpander::releasesOf(ws::EntryOp entry) {
  SmallVector<Value> releases;
  for (Value value : entry.getCaptures()) {
    auto [source, age] = loop.getSource(value, entry.getShift());
    if (source && lastReader.lookup(source) == entry) {
      releases.push_back(lookup(value, entry.getShift()));
    }
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
  awaitConflicts(entry);
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
      auto source = cast<ws::MmaOp>(op);
      Value a = source.getA();
      if (auto convert = a.getDefiningOp<tile::ConvertLayoutOp>()) {
        a = convert.getSource();
      }
      Value registerA = isa<ws::SlotType>(a.getType())
                            ? Value()
                            : loop.getSource(a, entry.getShift()).first;
      auto held = a.getDefiningOp<ws::HeldOp>();
      inFlight.push_back({entry.getName(), mma.getResult(), mma.getToken(),
                          registerA, held ? held.getHold() : StringRef(),
                          releases});
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
  awaitConflicts(entry);
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

SmallVector<Value> LoopExpander::finalValues() {
  SmallVector<Value> values;
  for (Value value : yield->getOperands()) {
    values.push_back(lookup(value, maxShift));
  }
  return values;
}

/// Whether the first step is all that a range has.
bool LoopExpander::firstStepEnds(size_t range) {
  return range == 0 && isMasked(range) && endOfRanges() > 1 && maskShift == 0 &&
         holdsOneBlockAtMost(top, loop.getBounds()[1]);
}

/// When masked entries have run for all blocks down to the end of a range.
Value LoopExpander::timeOfEnd(size_t range) {
  Value blocks =
      arith::SubIOp::create(builder, loc, top, loop.getBounds()[range + 1]);
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

LogicalResult LoopExpander::emitNonempty() {
  seed(-1);
  advance();
  seed(0);
  Value zero = constant(0), one = constant(1);
  if (failed(emitStep({zero, 0, 0, anyMasked, true, false, {}})) ||
      failed(emitSteadyLoops(one))) {
    return failure();
  }
  if (maxShift == 0) {
    return success();
  }
  emitEarlyReleases();
  advance();
  return emitStep({trips, 1, maxShift, anyMasked, false, true, {}});
}

/// A slot from outside the loop goes back before the epilogue, unless that or
/// what follows the loop reads it, so that the next item's tile can come
/// meanwhile.
void LoopExpander::takeEarlyReleases() {
  if (maxShift == 0) {
    return;
  }
  llvm::SetVector<Value> read, readLate;
  for (ws::EntryOp entry : entries) {
    bool runsLate = entry.getShift() > 0 || entry.getGuard() == "last";
    for (Value value : entry.getCaptures()) {
      if (isa<ws::SlotType>(value.getType()) && !isa<BlockArgument>(value) &&
          !loop->isAncestor(value.getDefiningOp())) {
        (runsLate ? readLate : read).insert(value);
      }
    }
  }
  for (Value slot : read) {
    SmallVector<Operation *> others;
    for (Operation *user : slot.getUsers()) {
      if (!loop->isAncestor(user)) {
        others.push_back(user);
      }
    }
    if (!readLate.contains(slot) && others.size() == 1 &&
        isa<ws::ReleaseOp>(others[0]) &&
        others[0]->getBlock() == loop->getBlock()) {
      others[0]->erase();
      earlyReleases.push_back(slot);
    }
  }
}

void LoopExpander::emitEarlyReleases() {
  for (Value slot : earlyReleases) {
    ws::ReleaseOp::create(builder, loc, slot);
  }
}

/// Blocks are skipped one after the other: a channel must not have slots of
/// another block between those of one.
LogicalResult LoopExpander::checkSkippedOrder() {
  llvm::DenseMap<Attribute, int64_t> shifts;
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard()) {
      continue;
    }
    for (auto wait : entry.getBody().getOps<ws::WaitOp>()) {
      Attribute channel = wait.getSlot().getType().getChannel();
      int64_t shift = entry.getShift();
      int64_t first = shifts.try_emplace(channel, shift).first->second;
      if (shift != first) {
        return entry.emitOpError("attn-pipeline: expected one shift of the "
                                 "waits for ")
               << channel << " in the loop of a role that skips blocks, got "
               << first << " and " << shift;
      }
    }
  }
  return success();
}

/// Slots of skipped blocks are waited for and given back, and turns are passed
/// on. What is pinned runs once an item, in the blocks that follow or for none.
LogicalResult LoopExpander::emitSkipped() {
  if (failed(checkSkippedOrder())) {
    return failure();
  }
  Value count = arith::SubIOp::create(builder, loc, loop.getBounds()[0], top);
  auto skipped =
      scf::ForOp::create(builder, loc, constant(0), count, constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(skipped.getBody());
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard()) {
      continue;
    }
    for (Operation &op : entry.getBody().front().without_terminator()) {
      if (isa<ws::SignalOp, ws::WaitEdgeOp, ws::SyncOp, ws::AcquireOp>(op)) {
        return entry.emitOpError("attn-pipeline: no lowering for '")
               << op.getName() << "' in the loop of a role that skips blocks";
      }
      if (isa<ws::TakeOp, ws::GiveOp>(op)) {
        builder.clone(op);
      } else if (isa<ws::WaitOp>(op)) {
        Value slot = builder.clone(op)->getResult(0);
        ws::ReleaseOp::create(builder, loc, slot);
      }
    }
  }
  return success();
}

/// An empty range runs what is pinned in the loop, waits first.
LogicalResult LoopExpander::emitEmpty() {
  SmallVector<ws::EntryOp> pinned;
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard()) {
      pinned.push_back(entry);
    }
  }
  auto waits = [](ws::EntryOp entry) {
    return !entry.getBody().getOps<ws::WaitEdgeOp>().empty();
  };
  llvm::sort(pinned, [&](ws::EntryOp a, ws::EntryOp b) {
    return std::make_tuple(!waits(a), a.getSlot()) <
           std::make_tuple(!waits(b), b.getSlot());
  });
  emitEarlyReleases();
  TimeStep step{constant(0), 0, 0, false, true, true, {}};
  for (ws::EntryOp entry : pinned) {
    if (failed(emitEntry(entry, step))) {
      return failure();
    }
  }
  return success();
}

FailureOr<scf::IfOp> LoopExpander::run() {
  if (failed(analyze())) {
    return failure();
  }
  takeEarlyReleases();
  top = loop.getBounds()[skips() ? 1 : 0];
  if (skips() && failed(emitSkipped())) {
    return failure();
  }
  trips = arith::SubIOp::create(builder, loc, top, loop.getBounds().back());
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
  history.clear();
  if (failed(emitEmpty())) {
    return failure();
  }
  scf::YieldOp::create(builder, loc, loop.getInits());
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
  return branch;
}

/// What the pass ensures; the verifier of ws.mma sees to the awaits.
LogicalResult check(ws::KernelOp kernel) {
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    llvm::DenseSet<Attribute> released;
    role.walk([&](ws::ReleaseOp op) {
      released.insert(op.getSlot().getType().getChannel());
    });
    WalkResult result = role.walk([&](Operation *op) {
      if (isa<ws::ForOp, ws::EntryOp, ws::AwaitStepOp>(op)) {
        op->emitOpError("attn-pipeline: expected the loop to be expanded");
        return WalkResult::interrupt();
      }
      auto wait = dyn_cast<ws::WaitOp>(op);
      if (wait && !released.contains(wait.getSlot().getType().getChannel())) {
        op->emitOpError("attn-pipeline: expected role '")
            << role.getSymName() << "' to release "
            << wait.getSlot().getType().getChannel()
            << ", for which it waits, got no release";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return failure();
    }
  }
  return success();
}

class PipelinePass : public attn::impl::PipelineBase<PipelinePass> {
public:
  using PipelineBase::PipelineBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      SmallVector<ws::ForOp> loops;
      kernel.walk([&](ws::ForOp loop) { loops.push_back(loop); });
      for (ws::ForOp loop : loops) {
        LoopExpander expander(loop, kernel.getSchedule().getPeel());
        auto role = loop->getParentOfType<ws::RoleOp>();
        FailureOr<scf::IfOp> expanded = expander.run();
        if (failed(expanded)) {
          return signalPassFailure();
        }
        computeDuringLastProduct(*expanded);
        decided(kernel.getLoc(), "pipeline")
            << llvm::formatv(
                   "role '{0}': {1} copies of the loop's body, shifts "
                   "0 to {2}",
                   role ? role.getSymName() : "none", expander.getCopies(),
                   expander.getMaxShift())
                   .str();
      }
      if (failed(check(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
