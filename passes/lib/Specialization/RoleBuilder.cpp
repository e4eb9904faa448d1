// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleBuilder.h"

using namespace mlir;
using namespace attn;

bool RoleBuilder::runs(tile::StepOp step) {
  return ownSteps.contains(step.getName());
}

LogicalResult RoleBuilder::build() {
  body = program.schedule.findBody(role.getName().getValue());
  if (!body || body.getReplica() >= 0) {
    return error("expected one body for all replicas");
  }
  for (ArrayRef<EntryAttr> list :
       {body.getBefore(), body.getKv(), body.getAfter()}) {
    for (EntryAttr entry : list) {
      if (entry.getAct() == Act::Op || entry.getAct() == Act::Await) {
        if (!program.steps.count(entry.getTarget().getValue())) {
          return error("expected a step of the kernel, got '" +
                       entry.getTarget().getValue() + "'");
        }
      }
      if (entry.getAct() == Act::Op) {
        ownSteps.insert(entry.getTarget().getValue());
      }
      if (entry.getPart() >= 0 || entry.getSubtile() >= 0) {
        return error("no lowering for '" + entry.getTarget().getValue() +
                     "' by part or by sub-tile");
      }
    }
  }
  if (failed(checkNext())) {
    return failure();
  }
  int64_t replicas = std::max<int64_t>(1, role.getReplicas());
  auto op = ws::RoleOp::create(builder, loc(), str(role.getName().getValue()),
                               builder.getI64IntegerAttr(role.getWarps()),
                               builder.getI64IntegerAttr(role.getRegs()),
                               builder.getI64IntegerAttr(replicas));
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, builder.getI32Type(), loc());
  replica = block->getArgument(0);
  return buildWork();
}

LogicalResult RoleBuilder::buildWork() {
  auto next = program.steps.lookup("next");
  if (!next || next.getBody().getOps<tile::NextWorkOp>().empty()) {
    return error("expected step 'next' to hold 'tile.next_work'");
  }
  nextWork = *next.getBody().getOps<tile::NextWorkOp>().begin();
  auto work = ws::WorkLoopOp::create(
      builder, loc(), env.lookupOrDefault(nextWork.getBlocks()),
      env.lookupOrDefault(nextWork.getHeads()),
      env.lookupOrDefault(nextWork.getBatches()),
      program.mayReject() ? builder.getUnitAttr() : UnitAttr(), IntegerAttr(),
      IntegerAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&work.getBody());
  if (failed(emitNext(next))) {
    return failure();
  }
  for (Operation &op : program.work.getBody().front()) {
    if (!isa<tile::StepOp, tile::ForOp>(op)) {
      builder.clone(op, env);
    }
  }
  if (failed(emitEntries(body.getBefore())) || failed(buildLoop()) ||
      failed(emitEntries(body.getAfter()))) {
    return failure();
  }
  if (handsOut() && !fetched) {
    emitFetch();
  }
  // Stores of the last item still read shared memory.
  bool stores = false;
  for (StringRef name : ownSteps) {
    stores |=
        !program.steps.lookup(name).getBody().getOps<tile::StoreOp>().empty();
  }
  if (stores) {
    builder.setInsertionPointAfter(work);
    ws::AwaitStoreOp::create(builder, loc());
  }
  return success();
}

/// Does this role hand the work items out to the others?
bool RoleBuilder::handsOut() const {
  return program.workChannel && ownSteps.contains("next");
}

/// A work item is handed out where the role's turn begins.
LogicalResult RoleBuilder::checkNext() {
  if (!handsOut()) {
    return success();
  }
  ArrayRef<EntryAttr> before = body.getBefore();
  if (before.empty() || before.front().getAct() != Act::Op ||
      before.front().getTarget() != "next" ||
      before.front().getGuard() != Guard::Always ||
      before.front().getShift() != 0) {
    return error("no lowering for 'next' elsewhere than as the first entry "
                 "of 'before', without guard and shift");
  }
  return success();
}

/// The work item of this turn: computed, got from the role that hands items
/// out, or put into the channel for the others.
LogicalResult RoleBuilder::emitNext(tile::StepOp next) {
  if (!program.workChannel) {
    return emitCompute(next);
  }
  auto type = ws::SlotType::get(
      builder.getContext(), symbol(program.workChannel.getName().getValue()),
      ws::SlotType::workItemType(builder.getContext()));
  Value item = next.getResult(0);
  if (!handsOut()) {
    Value slot = ws::WaitOp::create(builder, loc(), type);
    env.map(item, ws::GetWorkOp::create(builder, loc(), item.getType(), slot));
    ws::ReleaseOp::create(builder, loc(), slot);
  } else {
    if (failed(emitCompute(next))) {
      return failure();
    }
    Value slot = ws::AcquireOp::create(builder, loc(), type);
    ws::PutWorkOp::create(builder, loc(), env.lookup(item), slot);
  }
  ws::EndUnlessWorkOp::create(builder, loc(), env.lookup(item));
  return success();
}

void RoleBuilder::emitFetch() {
  Value items = env.lookupOrDefault(nextWork.getBlocks());
  for (Value extent : {nextWork.getHeads(), nextWork.getBatches()}) {
    items = arith::MulIOp::create(builder, loc(), items,
                                  env.lookupOrDefault(extent));
  }
  if (nextWork.getWhole()) {
    // Items that are cut are handed out once a part.
    Value whole = env.lookupOrDefault(nextWork.getWhole());
    Value parts = env.lookupOrDefault(nextWork.getParts());
    Value cut = arith::SubIOp::create(builder, loc(), items, whole);
    Value inParts = arith::MulIOp::create(builder, loc(), cut, parts);
    items = arith::AddIOp::create(builder, loc(), whole, inParts);
  }
  ws::FetchWorkOp::create(builder, loc(), items);
  fetched = true;
}

/// The next work item is asked for late, so that no CTA sits on an item that
/// another could begin; but before the last entry of this one, which waits for
/// a slot while the answer comes.
void RoleBuilder::insertFetch(SmallVectorImpl<BodyItem> &items) {
  auto last = llvm::find_if(llvm::reverse(items), [](const BodyItem &item) {
    return item.kind == BodyItem::Step && item.shift > 0 && !item.guard;
  });
  if (!handsOut() || last == items.rend()) {
    return;
  }
  items.insert(
      last.base() - 1,
      BodyItem{BodyItem::Fetch, {}, {}, {}, 0, 0, str("last"), "fetch"});
}

/// Channel values that come from outside the loop and are read by this role.
void RoleBuilder::waitForOuterChannels() {
  for (EntryAttr entry : body.getKv()) {
    if (entry.getAct() != Act::Op) {
      continue;
    }
    for (Value operand :
         program.steps[entry.getTarget().getValue()].getOperands()) {
      tile::StepOp producer = program.producer(operand);
      if (program.channelOf.count(operand) && !program.inLoop(producer)) {
        outerChannelValues.insert(operand);
      }
    }
  }
  for (Value value : outerChannelValues) {
    env.map(value, ws::WaitOp::create(builder, loc(), slotType(value)));
  }
}

void RoleBuilder::releaseOuterChannels() {
  for (Value value : outerChannelValues) {
    ws::ReleaseOp::create(builder, loc(), env.lookup(value));
  }
}

/// Loop-carried values that a step of this role makes.
SmallVector<unsigned> RoleBuilder::carriedByRole() {
  SmallVector<unsigned> carried;
  Operation *yield = program.loop.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    auto step = program.producer(value);
    if (step && runs(step)) {
      carried.push_back(index);
    }
  }
  return carried;
}

LogicalResult RoleBuilder::collectItems(SmallVectorImpl<BodyItem> &items) {
  for (EntryAttr entry : body.getKv()) {
    BodyItem item{BodyItem::Other, entry, {}, {}, entry.getShift(), 0, {}, ""};
    StringRef target = entry.getTarget().getValue();
    if (entry.getGuard() != Guard::Always) {
      if (entry.getGuard() != Guard::Once && entry.getGuard() != Guard::Last) {
        return error("no lowering for guard '" +
                     stringifyGuard(entry.getGuard()) + "'");
      }
      item.guard = str(stringifyGuard(entry.getGuard()));
    }
    item.name = target.str();
    if (entry.getAct() == Act::Op) {
      item.kind = BodyItem::Step;
      item.step = program.steps[target];
    } else if (entry.getAct() == Act::Get) {
      item.kind = BodyItem::WaitFull;
      for (auto &[value, place] : program.channelOf) {
        auto producer = program.producer(value);
        if (program.getResultNames(producer)[0] == target) {
          item.channelValue = value;
        }
      }
      if (!item.channelValue) {
        return error("expected 'get' of a channel's value, got '" + target +
                     "'");
      }
      if (item.guard) {
        return error("no lowering for a guard of 'get(" + target + ")'");
      }
      item.name = "get_" + target.str();
    } else {
      item.name = (stringifyAct(entry.getAct()) + "_" + target).str();
    }
    items.push_back(item);
  }
  return success();
}

/// A role waits for a channel's value before it first reads it, unless a `get`
/// has moved the wait up.
void RoleBuilder::insertWaits(SmallVectorImpl<BodyItem> &items) {
  DenseSet<Value> waited;
  for (const BodyItem &item : items) {
    if (item.kind == BodyItem::WaitFull) {
      waited.insert(item.channelValue);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind != BodyItem::Step) {
      continue;
    }
    for (Value operand : items[i].step.getOperands()) {
      auto producer = program.producer(operand);
      if (!program.channelOf.count(operand) || !program.inLoop(producer) ||
          !waited.insert(operand).second) {
        continue;
      }
      BodyItem wait{BodyItem::WaitFull,
                    {},
                    {},
                    operand,
                    items[i].shift,
                    0,
                    {},
                    ("get_" + program.getResultNames(producer)[0]).str()};
      items.insert(items.begin() + i, wait);
      ++i;
    }
  }
  for (auto [slot, item] : llvm::enumerate(items)) {
    item.slot = slot;
  }
}

/// The ranges of the loop; with `skip right`, where they depend on the rows
/// that are owned, those of the replica's own sub-tile, and before them the
/// blocks that it leaves to the others.
std::pair<SmallVector<Value>, ArrayAttr> RoleBuilder::rangesOfRole() {
  tile::ForOp loop = program.loop;
  SmallVector<Value> whole;
  for (Value bound : loop.getBounds()) {
    whole.push_back(env.lookupOrDefault(bound));
  }
  int64_t subtiles = program.schedule.getSubtiles();
  auto source = whole.front().getDefiningOp<tile::BoundsOp>();
  if (program.schedule.getSkip() == Skip::None || subtiles == 1 || !source ||
      source.getBody().getOps<tile::OwnedRowsOp>().empty() ||
      role.getReplicas() != subtiles) {
    return {whole, loop.getKinds()};
  }
  auto own = cast<tile::BoundsOp>(builder.clone(*source));
  own.getSubtileMutable().assign(replica);
  own.setOf(subtiles);
  // The bounds of fewer rows lie between those of all. Blocks at the other end
  // are walked by every sub-tile, under the mask.
  SmallVector<Value> bounds{whole.front()};
  llvm::append_range(bounds, own.getBounds().drop_back());
  bounds.push_back(whole.back());
  SmallVector<Attribute> kinds{builder.getStringAttr("skipped")};
  llvm::append_range(kinds, loop.getKinds());
  return {bounds, builder.getArrayAttr(kinds)};
}

LogicalResult RoleBuilder::buildLoop() {
  waitForOuterChannels();
  SmallVector<BodyItem> items;
  if (failed(collectItems(items))) {
    return failure();
  }
  insertFetch(items);
  insertWaits(items);
  llvm::sort(items, [](const BodyItem &a, const BodyItem &b) {
    return std::tie(a.shift, a.slot) < std::tie(b.shift, b.slot);
  });

  tile::ForOp source = program.loop;
  SmallVector<unsigned> carried = carriedByRole();
  auto [bounds, kinds] = rangesOfRole();
  SmallVector<Value> inits;
  SmallVector<Type> types{builder.getI32Type()};
  for (unsigned index : carried) {
    inits.push_back(env.lookupOrDefault(source.getInits()[index]));
    types.push_back(inits.back().getType());
  }
  auto loop = ws::ForOp::create(
      builder, loc(), ArrayRef<Type>(types).drop_front(), bounds, kinds, inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locs(types.size(), loc());
    Block *block = builder.createBlock(&loop.getBody(), {}, types, locs);
    env.map(source.getBody().getArgument(0), block->getArgument(0));
    for (auto [i, index] : llvm::enumerate(carried)) {
      env.map(source.getBody().getArgument(index + 1),
              block->getArgument(i + 1));
    }
    for (BodyItem &item : items) {
      if (failed(emitItem(item))) {
        return failure();
      }
    }
    SmallVector<Value> yielded;
    Operation *yield = source.getBody().front().getTerminator();
    for (unsigned index : carried) {
      Value value = env.lookupOrNull(yield->getOperand(index));
      if (!value) {
        return error("V5: no lowering for carried value " + Twine(index) +
                     ", which does not stay in registers");
      }
      yielded.push_back(value);
    }
    ws::YieldOp::create(builder, loc(), yielded);
  }
  for (auto [i, index] : llvm::enumerate(carried)) {
    env.map(source.getResult(index), loop.getResult(i));
  }
  releaseOuterChannels();
  return success();
}

/// Wraps what one item does in a `ws.entry` whose results are the step's.
LogicalResult RoleBuilder::emitItem(BodyItem &item) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> produced; // of L1
  SmallVector<Type> types;
  if (item.kind == BodyItem::Step) {
    for (Value result : item.step.getResults()) {
      if (!program.channelOf.count(result) && !program.holdOf.count(result)) {
        produced.push_back(result);
        types.push_back(result.getType());
      }
    }
  } else if (item.kind == BodyItem::WaitFull) {
    produced.push_back(item.channelValue);
    types.push_back(slotType(item.channelValue));
  }
  Value passthrough;
  if (item.kind == BodyItem::Step && item.step.getMasked()) {
    passthrough = env.lookupOrNull(item.step.getOperand(0));
    if (!passthrough) {
      return error("V5: '" + item.name +
                   "' passes on a value that reaches it without a channel");
    }
  }
  if (item.guard && !types.empty()) {
    return error("no lowering for a guard of '" + item.name +
                 "', which makes a value");
  }
  auto entry = ws::EntryOp::create(builder, loc(), types, str(item.name),
                                   builder.getI64IntegerAttr(item.slot),
                                   builder.getI64IntegerAttr(item.shift),
                                   item.guard, passthrough);
  builder.createBlock(&entry.getBody());
  SmallVector<Value> yielded;
  if (item.kind == BodyItem::WaitFull) {
    yielded.push_back(ws::WaitOp::create(builder, loc(), types[0]));
  } else if (item.kind == BodyItem::Fetch) {
    emitFetch();
  } else if (failed(item.kind == BodyItem::Step ? emitStep(item.step)
                                                : emitAct(item.entry))) {
    return failure();
  }
  for (Value value : produced) {
    if (item.kind == BodyItem::Step) {
      Value made = env.lookupOrNull(value);
      if (!made) {
        return error("step '" + item.name + "' made no value to pass on");
      }
      yielded.push_back(made);
    }
  }
  ws::YieldOp::create(builder, loc(), yielded);
  for (auto [value, result] : llvm::zip(produced, entry.getResults())) {
    env.map(value, result);
  }
  return success();
}

/// Outside the loop nothing is in flight but stores, and nothing is shifted
/// but their await.
LogicalResult RoleBuilder::checkOutside(EntryAttr entry) {
  StringRef target = entry.getTarget().getValue();
  tile::StepOp step = program.steps.lookup(target);
  auto holds = [&](auto op) {
    return step && !step.getBody().getOps<decltype(op)>().empty();
  };
  if (entry.getAct() == Act::Op && holds(tile::MmaOp())) {
    return error("no lowering for MMA '" + target + "' outside the loop");
  }
  if (entry.getAct() == Act::Await && !holds(tile::StoreOp())) {
    return error("no lowering for 'await(" + target + ")' outside the loop");
  }
  if (entry.getShift() != 0 && entry.getAct() != Act::Await) {
    return error("no lowering for a shift of '" + target +
                 "' outside the loop");
  }
  return success();
}

LogicalResult RoleBuilder::emitEntries(ArrayRef<EntryAttr> entries) {
  for (EntryAttr entry : entries) {
    if (entry.getAct() == Act::Op && entry.getTarget() == "next") {
      continue; // emitted where the work loop begins
    }
    if (entry.getGuard() != Guard::Always) {
      return error("no lowering for guard '" +
                   stringifyGuard(entry.getGuard()) + "' outside the loop");
    }
    if (failed(checkOutside(entry))) {
      return failure();
    }
    if (failed(emitAct(entry))) {
      return failure();
    }
  }
  return success();
}

LogicalResult RoleBuilder::emitAct(EntryAttr entry) {
  StringRef target = entry.getTarget().getValue();
  switch (entry.getAct()) {
  case Act::Op:
    return emitStep(program.steps[target]);
  case Act::Await: {
    auto step = program.steps[target];
    if (!step.getBody().getOps<tile::StoreOp>().empty()) {
      ws::AwaitStoreOp::create(builder, loc());
      return success();
    }
    ws::AwaitStepOp::create(builder, loc(), symbol(target));
    return success();
  }
  case Act::Sig:
    ws::SignalOp::create(builder, loc(), symbol(target));
    return success();
  case Act::Wait:
    ws::WaitEdgeOp::create(builder, loc(), symbol(target));
    return success();
  case Act::Take:
    ws::TakeOp::create(builder, loc(), symbol(target), replica);
    return success();
  case Act::Give:
    ws::GiveOp::create(builder, loc(), symbol(target), replica);
    return success();
  case Act::Sync:
    ws::SyncOp::create(builder, loc(), symbol(target));
    return success();
  case Act::Get:
  case Act::Put:
  case Act::Commit:
    break;
  }
  return error("no lowering for '" + stringifyAct(entry.getAct()) + "(" +
               target + ")' here");
}

LogicalResult RoleBuilder::emitStep(tile::StepOp step) {
  for (Operation &op : step.getBody().front()) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      return emitLoad(step, load);
    }
    if (auto mma = dyn_cast<tile::MmaOp>(op)) {
      return emitMma(step, mma);
    }
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      return emitStore(step, store);
    }
  }
  return emitCompute(step);
}

/// Clones a step's body but for `except` and the yield; maps its arguments.
LogicalResult RoleBuilder::cloneBody(tile::StepOp step, Operation *except) {
  for (auto [operand, argument] :
       llvm::zip(step.getOperands(), step.getBody().getArguments())) {
    Value value = env.lookupOrNull(operand);
    if (!value && !program.channelOf.count(operand) &&
        !program.holdOf.count(operand)) {
      return error("V5: '" + step.getName() +
                   "' reads a value that reaches it without a channel");
    }
    if (value) {
      env.map(argument, value);
    }
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (isa<tile::SubtileIdOp>(op) &&
        std::max<int64_t>(1, role.getReplicas()) !=
            program.schedule.getSubtiles()) {
      return error("expected a replica for each of " +
                   Twine(program.schedule.getSubtiles()) +
                   " sub-tiles, of which '" + step.getName() +
                   "' computes one, got " + Twine(role.getReplicas()));
    }
    if (isa<tile::SubtileIdOp>(op)) {
      env.map(op.getResult(0), replica);
    } else if (&op != except && !isa<tile::PieceOp>(op) && !readsHold(&op)) {
      builder.clone(op, env);
    }
  }
  return success();
}

/// The hold of the argument `value` of a step; null if it is in none.
PlaceAttr RoleBuilder::holdOfArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto step = argument
                  ? dyn_cast<tile::StepOp>(argument.getOwner()->getParentOp())
                  : tile::StepOp();
  return step ? program.holdOf.lookup(step.getOperand(argument.getArgNumber()))
              : PlaceAttr();
}

/// What lies in a hold is not converted to another layout of registers.
bool RoleBuilder::readsHold(Operation *op) {
  auto convert = dyn_cast<tile::ConvertLayoutOp>(op);
  return convert && holdOfArgument(convert.getSource());
}

/// The tile of `type` in this replica's piece of `hold`.
Value RoleBuilder::emitHeld(PlaceAttr hold, RankedTensorType type) {
  FlatSymbolRefAttr name = symbol(hold.getName().getValue());
  auto tile = RankedTensorType::get(type.getShape(), type.getElementType());
  auto slot = ws::SlotType::get(builder.getContext(), name, tile);
  return ws::HeldOp::create(builder, loc(), slot, name, replica);
}

/// A step of an asynchronous op makes that op's result and nothing else.
LogicalResult RoleBuilder::checkPassesOn(tile::StepOp step, Operation *op) {
  Operation *yield = step.getBody().front().getTerminator();
  if (yield->getNumOperands() != 1 ||
      yield->getOperand(0) != op->getResult(0)) {
    return error("expected '" + step.getName() +
                 "' to make the result of its '" +
                 op->getName().getStringRef() + "' alone");
  }
  return success();
}

LogicalResult RoleBuilder::emitLoad(tile::StepOp step, tile::LoadOp load) {
  if (failed(checkPassesOn(step, load))) {
    return failure();
  }
  Value result = step.getResult(0);
  if (!program.channelOf.count(result)) {
    return error("expected a channel for what '" + step.getName() + "' loads");
  }
  if (failed(cloneBody(step, load))) {
    return failure();
  }
  Value slot = ws::AcquireOp::create(builder, loc(), slotType(result));
  UnitAttr shared = program.inLoop(step) ? builder.getUnitAttr() : UnitAttr();
  ws::CopyOp::create(builder, loc(), env.lookupOrDefault(load.getSource()),
                     env.lookupOrDefault(load.getBatch()),
                     env.lookupOrDefault(load.getHead()),
                     env.lookupOrDefault(load.getRow()), load.getMapAttr(),
                     shared, slot, Value());
  return success();
}

LogicalResult RoleBuilder::emitMma(tile::StepOp step, tile::MmaOp mma) {
  if (failed(checkPassesOn(step, mma)) || failed(cloneBody(step, mma))) {
    return failure();
  }
  Value a = mma.getA(), piece;
  if (auto op = a.getDefiningOp<tile::PieceOp>()) {
    a = op.getSource();
    piece = replica;
  }
  Value source = a;
  if (auto convert = a.getDefiningOp<tile::ConvertLayoutOp>()) {
    source = convert.getSource();
  }
  PlaceAttr hold = holdOfArgument(source);
  Value left = hold ? emitHeld(hold, cast<RankedTensorType>(source.getType()))
                    : env.lookupOrNull(a);
  Value right = env.lookupOrNull(mma.getB());
  if (!left || !right || !isa<ws::SlotType>(right.getType())) {
    return error("V20: expected operand B of '" + step.getName() +
                 "' in a channel");
  }
  Value acc = mma.getAcc() ? env.lookupOrDefault(mma.getAcc()) : Value();
  auto op = ws::MmaOp::create(builder, loc(), step.getResult(0).getType(),
                              ws::TokenType::get(builder.getContext()), left,
                              piece, right, acc, /*fresh=*/Value(),
                              mma.getTransposeBAttr());
  env.map(step.getResult(0), op.getResult());
  return success();
}

LogicalResult RoleBuilder::emitStore(tile::StepOp step, tile::StoreOp store) {
  auto argument = dyn_cast<BlockArgument>(store.getTile());
  bool isOperand = argument && argument.getOwner()->getParentOp() == step;
  auto hold =
      isOperand ? program.holdOf.find(step.getOperand(argument.getArgNumber()))
                : program.holdOf.end();
  if (hold == program.holdOf.end()) {
    return error("expected what '" + step.getName() +
                 "' stores in a hold in smem");
  }
  if (failed(cloneBody(step, store))) {
    return failure();
  }
  ws::StoreOp::create(builder, loc(), symbol(hold->second.getName().getValue()),
                      replica, env.lookupOrDefault(store.getDest()),
                      env.lookupOrDefault(store.getBatch()),
                      env.lookupOrDefault(store.getHead()),
                      env.lookupOrDefault(store.getRow()), store.getMapAttr());
  return success();
}

LogicalResult RoleBuilder::emitCompute(tile::StepOp step) {
  if (failed(cloneBody(step, nullptr))) {
    return failure();
  }
  Operation *yield = step.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip(step.getResults(), yield->getOperands())) {
    Value made = env.lookupOrDefault(value);
    if (auto hold = program.holdOf.find(result); hold != program.holdOf.end()) {
      ws::PutOp::create(builder, loc(), made,
                        symbol(hold->second.getName().getValue()), replica);
    } else {
      env.map(result, made);
    }
  }
  return success();
}
