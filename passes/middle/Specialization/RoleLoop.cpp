// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streaming loop of a role: what runs in which order, and the waits
// between.
#include "RoleBuilder.h"

using namespace mlir;
using namespace attn;

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
    if (entry.getAct() == Act::Await &&
        program.loadsToRegisters(program.steps[target])) {
      continue;
    }
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
  if (items.empty() && outerChannelValues.empty()) {
    return success();
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
