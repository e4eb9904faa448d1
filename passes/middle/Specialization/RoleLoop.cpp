// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streaming loop of a role: the sections of its plan as the regions of a
// ws.for.
#include "RoleBuilder.h"

using namespace mlir;
using namespace attn;
using sched::SlotRef;

/// Loop-carried values that a step of this role makes.
SmallVector<unsigned> RoleBuilder::carriedByRole() {
  SmallVector<unsigned> carried;
  Operation *yield = program.loop.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    auto step = program.producer(value);
    int number = step ? program.plan->model.findStep(step.getName()) : -1;
    if (number >= 0 && instance->runs[number]) {
      carried.push_back(index);
    }
  }
  return carried;
}

/// The ranges of the loop; of a role that skips blocks, those of the replica's
/// own sub-tile, and before them the blocks that it leaves to the others.
std::pair<SmallVector<Value>, tile::RangesAttr> RoleBuilder::rangesOfRole() {
  tile::ForOp loop = program.loop;
  SmallVector<Value> whole;
  for (Value bound : loop.getBounds()) {
    whole.push_back(env.lookupOrDefault(bound));
  }
  if (!program.bound().skipsBlocks(*instance)) {
    return {whole, loop.getRanges()};
  }
  auto source = whole.front().getDefiningOp<tile::BoundsOp>();
  auto own = cast<tile::BoundsOp>(builder.clone(*source));
  own.getSubtileMutable().assign(replica);
  own.setOf(program.schedule.getSubtiles());
  // The bounds of fewer rows lie between those of all. Blocks at the other end
  // are walked by every sub-tile, under the mask.
  SmallVector<Value> bounds{whole.front()};
  llvm::append_range(bounds, own.getBounds().drop_back());
  bounds.push_back(whole.back());
  MLIRContext *context = builder.getContext();
  SmallVector<tile::RangeAttr> ranges{
      tile::RangeAttr::get(context, tile::RangeKind::Skipped, std::nullopt)};
  llvm::append_range(ranges, loop.getRanges().getList());
  return {bounds, tile::RangesAttr::get(
                      context, loop.getRanges().getDirection(), ranges)};
}

LogicalResult RoleBuilder::buildLoop() {
  if (plan->turn.empty()) {
    return success();
  }
  tile::ForOp source = program.loop;
  SmallVector<unsigned> carried = carriedByRole();
  auto [bounds, ranges] = rangesOfRole();
  SmallVector<Value> inits;
  for (unsigned index : carried) {
    inits.push_back(env.lookupOrDefault(source.getInits()[index]));
  }
  auto loop = ws::ForOp::create(builder, loc(), ValueRange(inits).getTypes(),
                                bounds, ranges, inits);
  if (failed(emitBody(loop, carried)) ||
      (!plan->drain.empty() &&
       failed(emitRegion(loop.getDrain(), plan->drain))) ||
      (!plan->empty.empty() &&
       failed(emitRegion(loop.getEmpty(), plan->empty))) ||
      (program.bound().skipsBlocks(*instance) &&
       failed(emitRegion(loop.getSkipped(), plan->skipped)))) {
    return failure();
  }
  for (auto [i, index] : llvm::enumerate(carried)) {
    env.map(source.getResult(index), loop.getResult(i));
  }
  return emitActs(plan->loopEnds);
}

LogicalResult RoleBuilder::emitBody(ws::ForOp loop,
                                    ArrayRef<unsigned> carried) {
  OpBuilder::InsertionGuard guard(builder);
  Block &source = program.loop.getBody().front();
  SmallVector<Type> types{builder.getI32Type()};
  llvm::append_range(types, loop.getResultTypes());
  SmallVector<Location> locs(types.size(), loc());
  Block *block = builder.createBlock(&loop.getBody(), {}, types, locs);
  env.map(source.getArgument(0), block->getArgument(0));
  for (auto [i, index] : llvm::enumerate(carried)) {
    env.map(source.getArgument(index + 1), block->getArgument(i + 1));
  }
  // In the order in which values are computed.
  SmallVector<std::tuple<int, int64_t, const Act *>> order;
  for (const Act &act : plan->turn) {
    // Steps acquire what they fill, and loads to registers need no await.
    bool isOfStep =
        act.kind == Act::Acquire ||
        (act.kind == Act::Await && stepOf(act).engine == sched::Engine::Copy);
    if (!isOfStep) {
      order.push_back({act.shift, order.size(), &act});
    }
  }
  llvm::sort(order);
  for (auto [shift, slot, act] : order) {
    if (failed(emitEntry(*act, slot))) {
      return failure();
    }
  }
  SmallVector<Value> yielded;
  for (unsigned index : carried) {
    Value value = env.lookupOrNull(source.getTerminator()->getOperand(index));
    if (!value) {
      return error("V5: expected carried value " + Twine(index) +
                   " to stay in registers");
    }
    yielded.push_back(value);
  }
  ws::YieldOp::create(builder, loc(), yielded);
  return success();
}

/// The acts of a section in a region of the loop.
LogicalResult RoleBuilder::emitRegion(Region &region, const Acts &acts) {
  OpBuilder::InsertionGuard guard(builder);
  IRMapping outer = env;
  builder.createBlock(&region);
  LogicalResult emitted = emitActs(acts);
  ws::YieldOp::create(builder, loc(), ValueRange());
  env = outer;
  return emitted;
}

static std::string nameOf(const sched::PlannedAct &act,
                          const sched::KernelModel &model) {
  if (act.kind == sched::PlannedAct::Wait) {
    return "get_" + model.values[act.target].name.str();
  }
  if (act.kind == sched::PlannedAct::FetchItem) {
    return "fetch";
  }
  EntryAttr entry = act.entry->attr;
  StringRef target = entry.getTarget().getValue();
  return act.kind == sched::PlannedAct::Run
             ? target.str()
             : (stringifyAct(entry.getAct()) + "_" + target).str();
}

/// Wraps an act in a `ws.entry` whose results are what it makes.
LogicalResult RoleBuilder::emitEntry(const Act &act, int64_t slot) {
  OpBuilder::InsertionGuard guard(builder);
  std::string name = nameOf(act, program.plan->model);
  SmallVector<Value> produced; // at the level above
  SmallVector<Type> types;
  Value passthrough;
  if (act.kind == Act::Run) {
    tile::StepOp step = stepOf(act).op;
    for (Value result : step.getResults()) {
      if (!program.channelOf(result) && !program.holdOf(result)) {
        produced.push_back(result);
        types.push_back(result.getType());
      }
    }
    passthrough =
        step.getMasked() ? env.lookupOrNull(step.getOperand(0)) : Value();
    if (step.getMasked() && !passthrough) {
      return error("V5: '" + name +
                   "' passes on a value that reaches it without a channel");
    }
  } else if (act.kind == Act::Wait) {
    produced.push_back(valueIn(act.slot));
    types.push_back(slotType(produced.back()));
  }
  SmallVector<Attribute> after;
  for (int product : act.awaited) {
    after.push_back(symbol(nameOf(plan->turn[product], program.plan->model)));
  }
  SmallVector<Value> releases;
  for (const SlotRef &released : act.releases) {
    releases.push_back(env.lookupOrNull(valueIn(released)));
    if (!releases.back()) {
      return error("V8: expected a wait for what '" + name +
                   "' reads before it");
    }
  }
  bool guarded = act.guard != Guard::Always;
  auto entry = ws::EntryOp::create(
      builder, loc(), types, str(name), builder.getI64IntegerAttr(slot),
      builder.getI64IntegerAttr(act.shift),
      guarded ? str(stringifyGuard(act.guard)) : StringAttr(), passthrough,
      after.empty() ? ArrayAttr() : builder.getArrayAttr(after), releases);
  builder.createBlock(&entry.getBody());
  bool isProductAwait =
      act.kind == Act::Await && stepOf(act).engine == sched::Engine::Mma;
  if (isProductAwait) {
    ws::AwaitStepOp::create(builder, loc(), symbol(stepOf(act).name));
  } else {
    Act inside = act;
    inside.releases.clear();
    if (failed(emitAct(inside))) {
      return failure();
    }
  }
  SmallVector<Value> yielded;
  for (Value value : produced) {
    yielded.push_back(env.lookup(value));
  }
  ws::YieldOp::create(builder, loc(), yielded);
  for (auto [value, result] : llvm::zip(produced, entry.getResults())) {
    env.map(value, result);
  }
  return success();
}
