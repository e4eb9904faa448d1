// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using sched::SlotRef;
using PlannedAct = sched::PlannedAct;

/// The carried values that a step of this role computes.
SmallVector<unsigned> LoopBuilder::carriedByRole() {
  SmallVector<unsigned> carried;
  Operation *yield = program.loop.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    auto step = program.producer(value);
    int number = step ? program.plan->model.findStep(step.getName()) : -1;
    if (number >= 0 && scope.instance->runs[number]) {
      carried.push_back(index);
    }
  }
  return carried;
}

/// Whether the rows of all sub-tiles begin with the same block.
static bool beginAlike(tile::BoundsOp bounds) {
  Operation *yield = bounds.getBody().front().getTerminator();
  return matchPattern(yield->getOperands().back(), m_Zero());
}

/// Returns the ranges of the loop. For a role that skips blocks they are the
/// ranges of the replica's own sub-tile, and on one or both sides a skipped
/// range with the blocks that it leaves to the others.
std::pair<SmallVector<Value>, tile::RangesAttr> LoopBuilder::rangesOfRole() {
  tile::ForOp loop = program.loop;
  SmallVector<Value> all;
  for (Value bound : loop.getBounds()) {
    all.push_back(env.lookupOrDefault(bound));
  }
  if (!program.bound().skipsBlocks(*scope.instance)) {
    return {all, loop.getRanges()};
  }
  auto source = all.front().getDefiningOp<tile::BoundsOp>();
  auto own = cast<tile::BoundsOp>(builder.clone(*source));
  own.getSubtileMutable().assign(scope.replica);
  own.setOf(program.schedule.getSubtiles());
  // The bounds of a sub-tile are within those of all rows. Blocks at an end
  // that is not skipped are run under the mask. With `row_keys` a sub-tile may
  // see no keys, so its end may come before the others begin.
  bool skipsBoth =
      program.schedule.getSkip() == Skip::Both && !beginAlike(source);
  SmallVector<Value> bounds{all.front()};
  bool mayBeEmpty = program.kernel.getProblem().getRowKeys() != RowKeys::None;
  for (Value bound : own.getBounds().drop_back(skipsBoth ? 0 : 1)) {
    bounds.push_back(mayBeEmpty ? arith::MaxSIOp::create(builder, scope.loc(),
                                                         bound, all.back())
                                      .getResult()
                                : bound);
  }
  bounds.push_back(all.back());
  MLIRContext *context = builder.getContext();
  auto skipped =
      tile::RangeAttr::get(context, tile::RangeKind::Skipped, std::nullopt);
  SmallVector<tile::RangeAttr> ranges{skipped};
  llvm::append_range(ranges, loop.getRanges().getList());
  if (skipsBoth) {
    ranges.push_back(skipped);
  }
  return {bounds, tile::RangesAttr::get(
                      context, loop.getRanges().getDirection(), ranges)};
}

LogicalResult LoopBuilder::build() {
  if (plan.timeStep.empty()) {
    return success();
  }
  tile::ForOp source = program.loop;
  if (!source) {
    return scope.error("V1: expected no acts in the loop of a kernel that has "
                       "none");
  }
  SmallVector<unsigned> carried = carriedByRole();
  auto [bounds, ranges] = rangesOfRole();
  SmallVector<Value> inits;
  for (unsigned index : carried) {
    inits.push_back(env.lookupOrDefault(source.getInits()[index]));
  }
  auto loop =
      ws::ForOp::create(builder, scope.loc(), ValueRange(inits).getTypes(),
                        bounds, ranges, inits);
  if (failed(emitBody(loop, carried)) ||
      (!plan.drain.empty() &&
       failed(emitRegion(loop.getDrain(), plan.drain))) ||
      (!plan.empty.empty() &&
       failed(emitRegion(loop.getEmpty(), plan.empty))) ||
      (program.bound().skipsBlocks(*scope.instance) &&
       failed(emitRegion(loop.getSkipped(), plan.skipped))) ||
      failed(checkTimeStepEnds(loop))) {
    return failure();
  }
  for (auto [i, index] : llvm::enumerate(carried)) {
    env.map(source.getResult(index), loop.getResult(i));
  }
  return failure(failed(emitLateAwaits()) || failed(acts.emit(plan.loopEnds)));
}

/// The last time step has no code of its own if only awaits of stores run in
/// it: see `shiftOf`.
LogicalResult LoopBuilder::emitLateAwaits() {
  for (const PlannedAct &act : plan.timeStep) {
    if (shiftOf(act) != act.shift && failed(acts.emit(act))) {
      return failure();
    }
  }
  return success();
}

LogicalResult LoopBuilder::emitBody(ws::ForOp loop,
                                    ArrayRef<unsigned> carried) {
  OpBuilder::InsertionGuard guard(builder);
  Block &source = program.loop.getBody().front();
  SmallVector<Type> types{builder.getI32Type()};
  llvm::append_range(types, loop.getResultTypes());
  SmallVector<Location> locs(types.size(), scope.loc());
  Block *block = builder.createBlock(&loop.getBody(), {}, types, locs);
  env.map(source.getArgument(0), block->getArgument(0));
  for (auto [i, index] : llvm::enumerate(carried)) {
    env.map(source.getArgument(index + 1), block->getArgument(i + 1));
  }
  // In the order in which values are computed.
  SmallVector<std::tuple<int, int64_t, const PlannedAct *>> order;
  for (const PlannedAct &act : plan.timeStep) {
    bool isPartOfNext = act.kind == PlannedAct::Acquire ||
                        act.kind == PlannedAct::AwaitFirstRun;
    if (!isPartOfNext) {
      order.push_back({act.shift, order.size(), &act});
    } else if (failed(acts.emit(act))) {
      return failure();
    }
  }
  llvm::sort(order);
  for (auto [shift, issue, act] : order) {
    if (failed(emitEntry(*act, issue))) {
      return failure();
    }
  }
  SmallVector<Value> yielded;
  for (unsigned index : carried) {
    Value value = env.lookupOrNull(source.getTerminator()->getOperand(index));
    if (!value) {
      return scope.error("V5: expected carried value " + Twine(index) +
                         " to stay in registers");
    }
    yielded.push_back(value);
  }
  ws::YieldOp::create(builder, scope.loc(), yielded);
  scope.rows.clear();
  return success();
}

/// Emits the acts of a list in a region of the loop.
LogicalResult LoopBuilder::emitRegion(Region &region,
                                      ArrayRef<PlannedAct> list) {
  OpBuilder::InsertionGuard guard(builder);
  IRMapping outer = env;
  builder.createBlock(&region);
  LogicalResult emitted = acts.emit(list);
  ws::YieldOp::create(builder, scope.loc(), ValueRange());
  env = outer;
  return emitted;
}

/// Checks that an iteration of the plan ends like a time step of `ws.for`: if
/// it has MMAs, by awaiting all of them.
LogicalResult LoopBuilder::checkTimeStepEnds(ws::ForOp loop) {
  bool multiplies = loop.getBody()
                        .walk([](ws::MmaOp) { return WalkResult::interrupt(); })
                        .wasInterrupted();
  bool isSame = plan.timeStepEnds.size() == multiplies &&
                llvm::all_of(plan.timeStepEnds, [](const PlannedAct &act) {
                  return act.kind == PlannedAct::AwaitProducts;
                });
  return isSame ? success()
                : scope.error(
                      "expected each time step to end with an await of its "
                      "MMAs, got a plan with another end");
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static std::string nameOf(const PlannedAct &act,
                          const sched::KernelModel &model) {
  if (act.kind == PlannedAct::Wait) {
    return "get_" + model.values[act.target].name.str();
  }
  if (act.kind == PlannedAct::FetchItem) {
    return "fetch";
  }
  EntryAttr entry = act.entry->attr;
  std::string name = entry.getTarget().getValue().str();
  if (entry.getSubtile() >= 0) {
    name += std::to_string(entry.getSubtile());
  }
  return act.kind == PlannedAct::Run
             ? name
             : (stringifyAct(entry.getAct()) + "_" + name).str();
}

/// Returns the values of the kernel that an act makes available to later acts.
SmallVector<Value> LoopBuilder::valuesOf(const PlannedAct &act) const {
  if (act.kind == PlannedAct::Wait) {
    return scope.valuesIn(act.slot);
  }
  SmallVector<Value> values;
  if (act.kind == PlannedAct::ReadRow) {
    values.push_back(program.value(act.target).ir);
  }
  if (act.kind == PlannedAct::Run) {
    tile::StepOp step = scope.stepOf(act).op;
    llvm::copy_if(
        step.getResults(), std::back_inserter(values), [&](Value result) {
          return !program.channelOf(result) && !program.holdOf(result);
        });
  }
  return values;
}

/// Returns the value that a masked step passes on without the mask, or null for
/// other acts.
FailureOr<Value> LoopBuilder::passthroughOf(const PlannedAct &act) {
  if (act.kind != PlannedAct::Run) {
    return Value();
  }
  tile::StepOp step = scope.stepOf(act).op;
  if (!step.getMasked()) {
    return Value();
  }
  Value passed = env.lookupOrNull(step.getOperand(0));
  if (!passed) {
    return scope.error("V5: '" + step.getName() +
                       "' passes on a value that reaches it without a channel");
  }
  return passed;
}

/// An await of stores waits for all that were issued before it, so that one of
/// shift 2 may run in each time step from the second on.
int64_t LoopBuilder::shiftOf(const PlannedAct &act) const {
  bool isOfStore = act.kind == PlannedAct::Await &&
                   scope.stepOf(act).engine == sched::Engine::Store;
  return isOfStore ? std::min(act.shift, 1) : act.shift;
}

FailureOr<ws::EntryOp> LoopBuilder::createEntry(const PlannedAct &act,
                                                int64_t issue,
                                                ValueRange produced) {
  const sched::KernelModel &model = program.plan->model;
  SmallVector<Type> types;
  for (Value value : produced) {
    types.push_back(act.kind == PlannedAct::Wait ? scope.slotType(value)
                                                 : value.getType());
  }
  FailureOr<Value> passthrough = passthroughOf(act);
  if (failed(passthrough)) {
    return failure();
  }
  SmallVector<Attribute> after;
  for (int product : act.awaited) {
    after.push_back(scope.symbol(nameOf(plan.timeStep[product], model)));
  }
  std::string name = nameOf(act, model);
  SmallVector<Value> releases;
  for (const SlotRef &released : act.releases) {
    for (Value value : llvm::reverse(scope.valuesIn(released))) {
      releases.push_back(env.lookupOrNull(value));
      if (!releases.back()) {
        return scope.error("V8: expected a wait for what '" + name +
                           "' reads before it");
      }
    }
  }
  GuardAttr guard = act.guard == Guard::Always
                        ? GuardAttr()
                        : GuardAttr::get(builder.getContext(), act.guard);
  return ws::EntryOp::create(
      builder, scope.loc(), types, builder.getStringAttr(name),
      builder.getI64IntegerAttr(issue), builder.getI64IntegerAttr(shiftOf(act)),
      guard, *passthrough,
      after.empty() ? ArrayAttr() : builder.getArrayAttr(after), releases);
}

/// Wraps an act in a `ws.entry` whose results are those of the act.
LogicalResult LoopBuilder::emitEntry(const PlannedAct &act, int64_t issue) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> produced = valuesOf(act);
  FailureOr<ws::EntryOp> entry = createEntry(act, issue, produced);
  if (failed(entry)) {
    return failure();
  }
  builder.createBlock(&entry->getBody());
  if (act.kind == PlannedAct::Await &&
      scope.stepOf(act).engine == sched::Engine::Mma) {
    ws::AwaitStepOp::create(builder, scope.loc(),
                            scope.symbol(scope.stepOf(act).name));
  } else {
    PlannedAct inside = act;
    inside.releases.clear();
    if (failed(acts.emit(inside))) {
      return failure();
    }
  }
  IRMapping &made = act.kind == PlannedAct::ReadRow ? scope.rows : env;
  SmallVector<Value> yielded;
  for (Value value : produced) {
    yielded.push_back(made.lookup(value));
  }
  ws::YieldOp::create(builder, scope.loc(), yielded);
  for (auto [value, result] : llvm::zip(produced, entry->getResults())) {
    made.map(value, result);
  }
  return success();
}
