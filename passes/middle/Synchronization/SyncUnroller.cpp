// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncUnroller.h"
#include "TileRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attn;

/// "with work items of 1 + 0, 1 + 0 (again) blocks": range by range.
InFlightDiagnostic attn::emitSyncError(Operation *op,
                                       ArrayRef<SyncItem> items) {
  InFlightDiagnostic error = op->emitOpError("attn-verify-sync: ");
  Diagnostic &note = error.attachNote() << "with work items of ";
  llvm::interleaveComma(items, note, [&](const SyncItem &item) {
    llvm::interleave(item.blocks, note, " + ");
    note << (item.isSecond() ? " (again)" : "");
  });
  note << " blocks";
  return error;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The bound at which range `index` begins. The lowest block has number 0. A
/// sub-tile skips one block more of the first range than the next sub-tile
/// does, as long as there are any; in a loop that runs upward none skips
/// blocks.
std::optional<int64_t> SyncUnroller::boundOf(tile::BoundsOp bounds,
                                             unsigned index) {
  SyncItem shape = current();
  if (bounds.getUp()) {
    return bounds.getSubtile()
               ? std::nullopt
               : std::optional(shape.from(0) - shape.from(index));
  }
  if (index > 0 || !bounds.getSubtile() || shape.blocks.empty()) {
    return shape.from(index);
  }
  std::optional<int64_t> subtile = numberOf(bounds.getSubtile());
  if (!subtile) {
    return std::nullopt;
  }
  int64_t subtiles = bounds.getOf().value_or(1);
  int64_t skipped = (of.later + 1) * subtiles - 1 - *subtile;
  return shape.from(0) - std::min(shape.blocks.front(), skipped);
}

/// Conversions, whose folders may change the op.
static std::optional<int64_t> convert(Operation *op, int64_t number) {
  auto widthOf = [](Value value) {
    return value.getType().isIndex() ? 64u
                                     : value.getType().getIntOrFloatBitWidth();
  };
  if (isa<arith::ExtUIOp>(op)) {
    return llvm::maskTrailingOnes<uint64_t>(widthOf(op->getOperand(0))) &
           uint64_t(number);
  }
  if (isa<arith::TruncIOp>(op)) {
    return llvm::SignExtend64(uint64_t(number), widthOf(op->getResult(0)));
  }
  bool keeps = isa<arith::ExtSIOp, arith::IndexCastOp>(op);
  return keeps ? std::optional(number) : std::nullopt;
}

/// Numbers of more bits than any size has are not looked at.
static bool isNumber(Type type) {
  return type.isIndex() ||
         (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 64);
}

std::optional<int64_t> SyncUnroller::fold(Operation *op) {
  if (op->hasTrait<OpTrait::OneResult>() && isa<CastOpInterface>(op)) {
    std::optional<int64_t> number = isNumber(op->getOperand(0).getType())
                                        ? numberOf(op->getOperand(0))
                                        : std::nullopt;
    return number ? convert(op, *number) : std::nullopt;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number =
        isNumber(operand.getType()) ? numberOf(operand) : std::nullopt;
    if (!number) {
      return std::nullopt;
    }
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1) {
    return std::nullopt;
  }
  if (auto value = dyn_cast<Value>(folded.front())) {
    return numberOf(value);
  }
  auto integer = dyn_cast<IntegerAttr>(cast<Attribute>(folded.front()));
  return integer ? std::optional(integer.getInt()) : std::nullopt;
}

/// Each item has rows and heads of its own; no sequence is short.
std::optional<int64_t> SyncUnroller::makeUp(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isKernels = isa<ws::KernelOp>(argument.getOwner()->getParentOp());
    return isKernels ? std::optional<int64_t>(argument.getArgNumber() + 1)
                     : std::nullopt;
  }
  auto result = cast<OpResult>(value);
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(
             result.getOwner())
      .Case([&](tile::CoordsOfOp) {
        return (result.getResultNumber() + 1) * 100 + 10 * item + of.cta;
      })
      .Case([&](tensor::DimOp dim) {
        auto tensor = dyn_cast<BlockArgument>(dim.getSource());
        return 4096 >> std::min(tensor ? tensor.getArgNumber() : 0u, 4u);
      })
      .Case([&](tile::CutOp) { return 1000 >> result.getResultNumber(); })
      .Case([&](tile::PartOfOp) { return 0; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> SyncUnroller::numberOf(Value value) {
  if (auto number = numbers.find(value); number != numbers.end()) {
    return number->second;
  }
  if (value == of.role.getBody().getArgument(0)) {
    return of.replica;
  }
  APInt constant;
  if (isNumber(value.getType()) &&
      matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  Operation *op = value.getDefiningOp();
  if (auto bounds = dyn_cast_or_null<tile::BoundsOp>(op)) {
    return boundOf(bounds, cast<OpResult>(value).getResultNumber());
  }
  if (isa_and_nonnull<tile::IsRedoOp, ws::IsSecondRunOp>(op)) {
    return current().isSecond();
  }
  if (isa_and_nonnull<ws::IsFirstCtaOp>(op)) {
    return of.cta == 0;
  }
  if (op && isa<arith::ArithDialect>(op->getDialect())) {
    // Each value once, though many may read it.
    auto found = known.find(value);
    return found != known.end() ? found->second : known[value] = fold(op);
  }
  return makesUp ? makeUp(value) : std::nullopt;
}

/// What decides trip counts, pieces and turns, for the current item.
std::optional<int64_t> SyncUnroller::tryEvaluate(Value value) {
  known.clear();
  return numberOf(value);
}

FailureOr<int64_t> SyncUnroller::evaluate(Value value, Operation *user) {
  if (std::optional<int64_t> number = tryEvaluate(value)) {
    return *number;
  }
  Operation *op = value.getDefiningOp();
  error(user) << "expected a number computed from 'tile.bounds' and "
                 "constants, got "
              << (op ? op->getName().getStringRef() : "a block argument");
  return failure();
}

FailureOr<int64_t> SyncUnroller::coordinate(Value value, Operation *user) {
  llvm::SaveAndRestore saved(makesUp, true);
  return evaluate(value, user);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

SyncStep &SyncUnroller::add(const SyncEvent &event, int64_t number) {
  ++counts[event.object * SyncEvent::kinds + event.kind];
  return steps.emplace_back(SyncStep{&event, item, number});
}

void SyncUnroller::pass(ValueRange from, ValueRange to) {
  if (tiles) {
    tiles->pass(from, to);
  }
  // First all are read: a loop may exchange two.
  SmallVector<std::pair<Value, SlotRef>> passed;
  for (auto [source, target] : llvm::zip(from, to)) {
    if (auto slot = slots.find(source); slot != slots.end()) {
      passed.push_back({target, slot->second});
    }
  }
  for (auto [target, slot] : passed) {
    slots[target] = slot;
  }
}

FailureOr<SlotRef> SyncUnroller::slotOf(Value value, Operation *user) {
  if (auto slot = slots.find(value); slot != slots.end()) {
    return slot->second;
  }
  if (auto held = value.getDefiningOp<ws::HeldOp>()) {
    unsigned hold = events.objectOf(value);
    FailureOr<int64_t> piece =
        numberBelow(held.getPiece(), events.objects()[hold].depth, held);
    if (failed(piece)) {
      return failure();
    }
    return SlotRef{int(hold), *piece};
  }
  return error(user) << "expected a slot of 'ws.acquire', 'ws.wait' or "
                        "'ws.held', got another";
}

void SyncUnroller::enterCycle(const SyncEvent &event, Value slot) {
  int64_t cycle = counts[event.object * SyncEvent::kinds + event.kind];
  slots[slot] = {int(event.object), cycle};
  add(event, cycle);
}

LogicalResult SyncUnroller::checkHeld(const SyncEvent &event, SlotRef slot) {
  if (llvm::is_contained(released, slot)) {
    return error(event.op)
           << "V8: expected slots that are read before they are released, got "
              "cycle "
           << slot.number << " of '" << events.objects()[slot.object].name
           << "' released before";
  }
  return success();
}

LogicalResult SyncUnroller::useSlot(const SyncEvent &event, Value value) {
  FailureOr<SlotRef> slot = slotOf(value, event.op);
  if (failed(slot) || failed(checkHeld(event, *slot))) {
    return failure();
  }
  add(event, slot->number);
  return success();
}

FailureOr<int64_t> SyncUnroller::numberBelow(Value value, int64_t count,
                                             Operation *user) {
  FailureOr<int64_t> number = evaluate(value, user);
  if (failed(number)) {
    return failure();
  }
  if (*number < 0 || *number >= count) {
    return error(user) << "expected a number from 0 to " << count - 1
                       << ", got " << *number;
  }
  return number;
}

LogicalResult SyncUnroller::useNumber(const SyncEvent &event, Value value) {
  const SyncObject &object = events.objects()[event.object];
  FailureOr<int64_t> number = numberBelow(value, object.depth, event.op);
  if (failed(number)) {
    return failure();
  }
  add(event, *number);
  return success();
}

/// A or B in shared memory. A warp reads of a hold the rows that it has put.
FailureOr<SlotRef> SyncUnroller::operandOf(ws::MmaOp mma, bool isB) {
  Value operand = isB ? mma.getB() : mma.getA();
  if (!isa<ws::SlotType>(operand.getType())) {
    return SlotRef(); // in registers, which the op's own constraints protect
  }
  FailureOr<SlotRef> slot = slotOf(operand, mma);
  if (failed(slot)) {
    return failure();
  }
  bool isHeld = events.objects()[slot->object].kind == SyncObject::Hold;
  if (isHeld && (isB || !events.has(of.role, SyncEvent::Put, slot->object))) {
    return error(mma) << "V8: expected what is held to be operand A of the "
                         "role that puts it, got "
                      << (isB ? "operand B" : "a role that does not");
  }
  return slot;
}

LogicalResult SyncUnroller::issueMma(const SyncEvent &event, ws::MmaOp mma) {
  FailureOr<SlotRef> a = operandOf(mma, /*isB=*/false);
  FailureOr<SlotRef> b = operandOf(mma, /*isB=*/true);
  if (failed(a) || failed(b) || failed(checkHeld(event, *a)) ||
      failed(checkHeld(event, *b))) {
    return failure();
  }
  auto result = dyn_cast<ShapedType>(mma.getResult().getType());
  if (mma.getPiece() && result && result.hasRank() && result.getRank() == 2) {
    auto slot = cast<ws::SlotType>(mma.getA().getType());
    int64_t pieces = slot.getTile().getDimSize(0) /
                     std::max<int64_t>(1, result.getDimSize(0));
    if (failed(numberBelow(mma.getPiece(), pieces, mma))) {
      return failure();
    }
  }
  int step = steps.size();
  tokens[mma.getToken()] = step;
  inFlight.push_back(step);
  SyncStep &added = add(event);
  added.reads[0] = *a;
  added.reads[1] = *b;
  return success();
}

/// MMAs of a role end in order. How many may be in flight at an await is how
/// many the text has between, so that none of them may be in a loop or branch.
LogicalResult SyncUnroller::awaitMma(const SyncEvent &event,
                                     ws::AwaitOp await) {
  Operation *mma = await.getToken().getDefiningOp();
  for (Operation *op = mma; op && op != await; op = op->getNextNode()) {
    if (op->getNumRegions() == 0) {
      continue;
    }
    WalkResult walked = op->walk([&](ws::MmaOp other) {
      return other->getBlock() == mma->getBlock() ? WalkResult::advance()
                                                  : WalkResult::interrupt();
    });
    if (walked.wasInterrupted()) {
      return error(await) << "expected no MMA in a loop or branch between an "
                             "MMA and its await, got one in "
                          << op->getName();
    }
  }
  int issued = tokens.lookup(await.getToken());
  llvm::erase_if(inFlight, [&](int step) { return step <= issued; });
  add(event).issued = issued;
  return success();
}

LogicalResult SyncUnroller::release(const SyncEvent &event, Value value) {
  FailureOr<SlotRef> slot = slotOf(value, event.op);
  if (failed(slot) || failed(checkHeld(event, *slot))) {
    return failure();
  }
  for (int step : inFlight) {
    if (llvm::is_contained(steps[step].reads, *slot)) {
      InFlightDiagnostic diagnostic = error(event.op);
      diagnostic << "V9: expected an MMA to be awaited before what it reads is "
                    "released, got one in flight that reads cycle "
                 << slot->number << " of '"
                 << events.objects()[slot->object].name << "'";
      diagnostic.attachNote(steps[step].event->op->getLoc()) << "the MMA";
      return diagnostic;
    }
  }
  if (!events.has(of.role, SyncEvent::Wait, slot->object)) {
    return error(event.op) << "expected a slot of 'ws.wait', got one that the "
                              "role fills";
  }
  released.push_back(*slot);
  add(event, slot->number);
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// One counter of a role goes with the ring, whichever end it is at.
LogicalResult SyncUnroller::checkEnds() const {
  for (auto [i, object] : llvm::enumerate(events.objects())) {
    if (object.kind == SyncObject::Channel &&
        events.has(of.role, SyncEvent::Acquire, i) &&
        events.has(of.role, SyncEvent::Wait, i)) {
      ws::RoleOp role = of.role;
      return role.emitOpError("attn-verify-sync: expected a role to fill or "
                              "to read a channel, got both for '")
             << object.name << "'";
    }
  }
  return success();
}

LogicalResult SyncUnroller::unroll() {
  return failure(failed(checkEnds()) || failed(run(of.role.getBody().front())));
}

LogicalResult SyncUnroller::run(Block &block) {
  if (!tiles) {
    for (Operation *op : events.within(&block)) {
      if (failed(runOp(op))) {
        return failure();
      }
    }
    return success();
  }
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(runOp(&op))) {
      return failure();
    }
  }
  return success();
}

/// A loop without events, whose number of trips depends on what is computed:
/// its tiles are those of one trip.
LogicalResult SyncUnroller::runOnce(scf::ForOp loop) {
  pass(loop.getInits(), loop.getRegionIterArgs());
  if (failed(run(*loop.getBody()))) {
    return failure();
  }
  pass(loop.getYieldedValues(), loop.getResults());
  return success();
}

bool SyncUnroller::hasKnownTrips(scf::ForOp loop) {
  return tryEvaluate(loop.getLowerBound()) &&
         tryEvaluate(loop.getUpperBound()) && tryEvaluate(loop.getStep());
}

LogicalResult SyncUnroller::runLoop(scf::ForOp loop) {
  if (!events.isWithin(loop) && !(tiles && hasKnownTrips(loop))) {
    return runOnce(loop);
  }
  FailureOr<int64_t> from = evaluate(loop.getLowerBound(), loop);
  FailureOr<int64_t> to = evaluate(loop.getUpperBound(), loop);
  FailureOr<int64_t> step = evaluate(loop.getStep(), loop);
  if (failed(from) || failed(to) || failed(step)) {
    return failure();
  }
  int64_t distance;
  if (loop.getUnsignedCmp() || *step < 1 ||
      llvm::SubOverflow(*to, *from, distance) || distance / *step > mostTrips) {
    return error(loop) << "expected at most " << mostTrips
                       << " trips, signed, with a step of at least 1, got "
                       << *from << " to " << *to << " step " << *step;
  }
  pass(loop.getInits(), loop.getRegionIterArgs());
  for (int64_t left = distance; left > 0; left -= *step) {
    numbers[loop.getInductionVar()] = *to - left;
    if (failed(run(*loop.getBody()))) {
      return failure();
    }
    pass(loop.getYieldedValues(), loop.getRegionIterArgs());
  }
  pass(loop.getRegionIterArgs(), loop.getResults());
  return success();
}

LogicalResult SyncUnroller::runBranch(scf::IfOp branch) {
  if (tiles && !events.isWithin(branch) &&
      !tryEvaluate(branch.getCondition())) {
    return runEither(branch);
  }
  FailureOr<int64_t> condition = evaluate(branch.getCondition(), branch);
  if (failed(condition)) {
    return failure();
  }
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (taken.empty()) {
    return success();
  }
  if (failed(run(taken.front()))) {
    return failure();
  }
  pass(taken.front().getTerminator()->getOperands(), branch.getResults());
  return success();
}

/// A branch that depends on what is computed: either way may be taken.
LogicalResult SyncUnroller::runEither(scf::IfOp branch) {
  for (Region *region : branch.getRegions()) {
    if (!region->empty() && failed(run(region->front()))) {
      return failure();
    }
  }
  return branch.getNumResults() == 0 ? success()
                                     : tiles->passEither(branch, *this);
}

/// The counter of work items is right again after a launch, and every item
/// has its turn, if the first run of each is followed by one question for the
/// next, in the first CTA of a cluster.
LogicalResult SyncUnroller::checkFetches(ws::WorkLoopOp work) {
  int64_t asked = llvm::count_if(items.take_front(item + 1),
                                 [](auto &each) { return !each.isSecond(); });
  int64_t expected = of.cta == 0 ? asked : 0;
  if (!events.has(of.role, SyncEvent::TakeItem, 0) || fetches == expected) {
    return success();
  }
  return error(work) << "V26: expected " << expected
                     << " 'ws.fetch_work' after " << asked
                     << " work items, got " << fetches
                     << ", the last item with " << current().from(0)
                     << " blocks";
}

/// Items that are handed out end with one that says so.
LogicalResult SyncUnroller::runWork(ws::WorkLoopOp work) {
  Block &body = work.getBody().front();
  auto ends = body.getOps<ws::EndUnlessWorkOp>();
  fetches = 0;
  verdictsTaken = 0;
  for (item = 0; item < int(items.size()); ++item) {
    released.clear();
    if (failed(run(body)) || (!ends.empty() && failed(checkFetches(work)))) {
      return failure();
    }
  }
  if (ends.empty()) {
    return success();
  }
  released.clear();
  for (Operation *op : events.within(&body)) {
    if ((*ends.begin())->isBeforeInBlock(op)) {
      break;
    }
    if (failed(runOp(op))) {
      return failure();
    }
  }
  return success();
}

/// Where one role takes the verdicts both runs of an item have one, otherwise
/// the first alone.
void SyncUnroller::giveVerdict(const SyncEvent &event) {
  if (events.objects()[event.object].handedOut) {
    add(event, item);
  } else if (!current().isSecond()) {
    add(event, 0);
  }
}

/// Takes the verdicts that `ws.choose_item` takes in this turn.
void SyncUnroller::chooseItem(const SyncEvent &event) {
  bool isDue = verdictsTaken + 1 < item;
  bool comesAgain = isDue && current().first == verdictsTaken;
  if (isDue) {
    add(event, verdictsTaken++);
  }
  bool isNew = llvm::any_of(items.drop_front(item), [](const SyncItem &each) {
    return !each.isSecond();
  });
  if (!isNew && !comesAgain && verdictsTaken < item) {
    add(event, verdictsTaken++);
  }
}

LogicalResult SyncUnroller::shareItem(const SyncEvent &event,
                                      ws::ShareWorkOp share) {
  if (of.cta == 0 && failed(run(share.getBody().front()))) {
    return failure();
  }
  add(event, item);
  return success();
}

LogicalResult SyncUnroller::runOp(Operation *op) {
  if (steps.size() > mostSteps) {
    return error(op) << "expected at most " << mostSteps
                     << " steps of a role, got more";
  }
  if (const SyncEvent *event = events.find(op)) {
    return runEvent(*event);
  }
  if (auto work = dyn_cast<ws::WorkLoopOp>(op)) {
    return runWork(work);
  }
  if (isa<scf::ForOp, scf::IfOp>(op)) {
    auto loop = dyn_cast<scf::ForOp>(op);
    return failure(
        failed(loop ? runLoop(loop) : runBranch(cast<scf::IfOp>(op))) ||
        (tiles && failed(tiles->checkUsed(op, *this))));
  }
  if (tiles && !events.isWithin(op)) {
    return tiles->visit(op, *this);
  }
  return error(op) << "expected 'scf.for' and 'scf.if' alone round "
                      "synchronization";
}

LogicalResult SyncUnroller::runEvent(const SyncEvent &event) {
  return failure(failed(addStep(event)) ||
                 (tiles && failed(tiles->visit(event.op, *this))));
}

LogicalResult SyncUnroller::addStep(const SyncEvent &event) {
  auto enter = [&](auto op) {
    enterCycle(event, op.getSlot());
    return success();
  };
  auto simple = [&](auto) {
    add(event);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(event.op)
      .Case<ws::AcquireOp, ws::WaitOp>(enter)
      .Case<ws::CopyOp, ws::PutWorkOp, ws::GetWorkOp>(
          [&](auto op) { return useSlot(event, op.getSlot()); })
      .Case([&](ws::ReleaseOp op) { return release(event, op.getSlot()); })
      .Case([&](ws::MmaOp op) { return issueMma(event, op); })
      .Case([&](ws::AwaitOp op) { return awaitMma(event, op); })
      .Case<ws::PutOp, ws::StoreOp>(
          [&](auto op) { return useNumber(event, op.getPiece()); })
      .Case<ws::TakeOp, ws::GiveOp>(
          [&](auto op) { return useNumber(event, op.getReplica()); })
      .Case<ws::SignalOp, ws::WaitEdgeOp, ws::SyncOp, ws::AwaitStoreOp>(simple)
      .Case([&](ws::FetchWorkOp) {
        ++fetches;
        return success();
      })
      .Case([&](ws::TakeItemOp) { return success(); })
      .Case([&](ws::GiveVerdictOp) { return giveVerdict(event), success(); })
      .Case([&](ws::TakeVerdictOp) { return add(event, 0), success(); })
      .Case([&](ws::ChooseItemOp) { return chooseItem(event), success(); })
      .Case([&](ws::ShareWorkOp op) { return shareItem(event, op); })
      .Default([&](Operation *op) {
        return error(op) << "expected an op that synchronizes";
      });
}
