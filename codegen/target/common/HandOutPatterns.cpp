// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items that one role takes from the grid's counter and hands out to the other
// roles, and rejected items that it hands out a second time.
#include "WorkItems.h"
#include "attn/dialect/ItemChoice.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

//===----------------------------------------------------------------------===//
// The counter.
//===----------------------------------------------------------------------===//

/// Returns the number of items that are handed out, given the number before
/// cutting: an item that is cut counts once for each part.
static Value countItems(const ItemOps &emit, ws::TakeItemOp op, Value items) {
  if (!op.getWhole()) {
    return items;
  }
  Value cut = emit.sub(items, op.getWhole());
  return emit.add(op.getWhole(), emit.mul(cut, op.getParts()));
}

static Value countItems(const ItemOps &emit, ws::TakeItemOp op) {
  return countItems(emit, op, extentsOf(op).count(emit.builder, emit.loc));
}

/// Asks the counter for an item. When the last CTA ends, it has been asked once
/// for each item; it then wraps to 0 for the next launch.
static Value askCounter(const ItemOps &emit, Value items) {
  Value uncounted = emit.items.counter.uncounted;
  Value last = emit.sub(items, emit.constant(1));
  last = uncounted ? emit.add(last, uncounted) : last;
  Value answer = LLVM::AtomicRMWOp::create(
      emit.builder, emit.loc, LLVM::AtomicBinOp::uinc_wrap,
      emit.items.params.workspace(), last, LLVM::AtomicOrdering::monotonic,
      "device");
  return uncounted ? emit.sub(answer, uncounted) : answer;
}

/// Returns the counter's first value for this CTA. Parts must be handed out in
/// order, since a part waits for those before it. If a CTA's first item may be
/// a part, it also comes from the counter, which then starts at -grid.
static Value firstAnswer(const ItemOps &emit, ws::TakeItemOp take, Value first,
                         Value grid) {
  OpBuilder &builder = emit.builder;
  GridCounter &counter = emit.items.counter;
  Value mayBePart =
      emit.compare(arith::CmpIPredicate::ult, take.getWhole(), grid);
  counter.uncounted = emit.select(mayBePart, grid, emit.constant(0));
  counter.parts = Divisor::prepare(builder, emit.loc, take.getParts());
  auto branch = scf::IfOp::create(builder, emit.loc, builder.getI32Type(),
                                  mayBePart, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, emit.loc,
                       askCounter(emit, countItems(emit, take)));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, emit.loc, first);
  return branch.getResult(0);
}

/// Creates the variable with the counter's last reply. Its initial value
/// selects the item with the number of the CTA, without asking the counter.
void codegen::createCounter(const ItemOps &emit, ws::TakeItemOp take) {
  auto ptr = LLVM::LLVMPointerType::get(emit.builder.getContext());
  Value &answer = emit.items.counter.answer;
  answer = LLVM::AllocaOp::create(emit.builder, emit.loc, ptr,
                                  emit.builder.getI32Type(), emit.constant(1));
  Value inFlight = emit.itemsInFlight();
  Value first = emit.sub(emit.items.first, inFlight);
  if (take.getWhole()) {
    first = firstAnswer(emit, take, first, inFlight);
  } else if (ws::claimsFirstItem(emit.items.kernel.getArgs(),
                                 emit.items.kernel.getConfig())) {
    emit.items.counter.uncounted = inFlight;
    first = askCounter(emit, countItems(emit, take));
  }
  LLVM::StoreOp::create(emit.builder, emit.loc, first, answer);
}

//===----------------------------------------------------------------------===//
// Items.
//===----------------------------------------------------------------------===//

/// Finds the item and the part of a handed out item; returns the number of the
/// item.
static Value findPart(const ItemOps &emit, ws::TakeItemOp take,
                      RoleItem &item) {
  Value whole = take.getWhole();
  Value isPart = emit.compare(arith::CmpIPredicate::uge, item.number, whole);
  Value past = emit.sub(item.number, whole);
  auto [cutItem, part] =
      emit.items.counter.parts.divide(emit.builder, emit.loc, past);
  item.part = {isPart, part, cutItem};
  return emit.select(isPart, emit.add(whole, cutItem), item.number);
}

/// Computes the coordinates of the item with a number.
static void findCoords(const ItemOps &emit, ws::TakeItemOp take,
                       RoleItem &item) {
  Value number = take.getWhole() ? findPart(emit, take, item) : item.number;
  item.coords = emit.items.numbering.coordsOf(emit.builder, emit.loc, number);
}

namespace {

/// Reads the reply that `ws.fetch_work` asked for in the iteration before. The
/// first iteration takes the item that createCounter() selected.
struct TakeItemPattern : ItemPattern<ws::TakeItemOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::TakeItemOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    if (items.mailbox()) {
      items.numbering = emit.numberingOf(extentsOf(op), /*manyItems=*/false);
    }
    RoleItem item;
    Value inFlight = emit.itemsInFlight();
    item.number = emit.add(emit.load(items.counter.answer), inFlight);
    item.exists = emit.compare(arith::CmpIPredicate::ult, item.number,
                               countItems(emit, op));
    if (!items.verdict()) {
      findCoords(emit, op, item);
    }
    items.items[op.getWork()] = item;
    items.taken = op;
    return items.done(op);
  }
};

/// Asks the counter for the next item, unless the current item is in its second
/// run, which did not use the last reply. In a cluster only the first CTA asks.
struct FetchWorkPattern : ItemPattern<ws::FetchWorkOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::FetchWorkOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    // Blocks and heads are multiplied first: the other order needs other
    // registers.
    ws::TakeItemOp take = items.taken;
    Value count = emit.mul(take.getBlocks(), take.getHeads());
    count = countItems(emit, take, emit.mul(count, take.getBatches()));
    if (items.mailbox()) {
      emit.enterIf(emit.isFirstCta());
    }
    if (Value second = items.items[op.getWork()].second) {
      emit.enterIf(emit.isNot(second));
    }
    LLVM::StoreOp::create(rewriter, op.getLoc(), askCounter(emit, count),
                          items.counter.answer);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Slots of work items are already offsets.
Value slotPointer(const ItemOps &emit, Value slot) {
  return emit.shared(slot.getDefiningOp<ws::SlotAtOp>().getOffset());
}

struct PutWorkPattern : ItemPattern<ws::PutWorkOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::PutWorkOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    Value packed = packItem(emit, items.items[op.getWork()]);
    LLVM::StoreOp::create(rewriter, op.getLoc(), packed,
                          slotPointer(emit, op.getSlot()), ws::workItemBytes);
    rewriter.eraseOp(op);
    return success();
  }
};

struct GetWorkPattern : ItemPattern<ws::GetWorkOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::GetWorkOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    Value packed = LLVM::LoadOp::create(
        rewriter, op.getLoc(), VectorType::get(4, rewriter.getI32Type()),
        slotPointer(emit, op.getSlot()), ws::workItemBytes);
    if (!items.isSingleThread) {
      // One lane releases the slot for its warp.
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(), emit.constant(-1));
    }
    items.items[op.getWork()] = unpackItem(emit, packed);
    return items.done(op);
  }
};

struct SlotAtPattern : ItemPattern<ws::SlotAtOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::SlotAtOp op,
                                PatternRewriter &) const override {
    return items.done(op);
  }
};

//===----------------------------------------------------------------------===//
// Rejected items.
//===----------------------------------------------------------------------===//

// Verdict n uses barrier n mod 2, in phase n div 2.
static_assert(ws::verdictRing == 2);

/// The numbers and flags of `ws::chooseItem`, computed by ops.
struct EmittedScalars {
  const ItemOps &emit;
  ws::VerdictMemory verdicts;

  Value both(Value a, Value b) const {
    return arith::AndIOp::create(emit.builder, emit.loc, a, b);
  }
  Value either(Value a, Value b) const {
    return arith::OrIOp::create(emit.builder, emit.loc, a, b);
  }
  Value isNot(Value flag) const { return emit.isNot(flag); }
  Value following(Value number) const {
    return emit.add(number, emit.constant(1));
  }
  Value count(Value number, Value flag) const {
    Value one =
        arith::ExtUIOp::create(emit.builder, emit.loc, number.getType(), flag);
    return emit.add(number, one);
  }
  Value select(Value condition, Value a, Value b) const {
    return emit.select(condition, a, b);
  }
  Value isBelow(Value a, Value b) const {
    return emit.compare(arith::CmpIPredicate::ult, a, b);
  }
  Value slotOf(Value iteration) const { return emit.bitAnd(iteration, 1); }
  Value takeVerdictIf(Value due, Value number) const;

private:
  Value takeVerdict(Value number) const;
};

/// If `due`, waits for verdict `number` and returns it; otherwise returns
/// "accepted".
Value EmittedScalars::takeVerdictIf(Value due, Value number) const {
  OpBuilder &builder = emit.builder;
  auto branch = scf::IfOp::create(builder, emit.loc, builder.getI1Type(), due,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, emit.loc, takeVerdict(number));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value no = arith::ConstantIntOp::create(builder, emit.loc, 0, 1);
  scf::YieldOp::create(builder, emit.loc, no);
  return branch.getResult(0);
}

/// Waits for a verdict, clears its word, and returns whether it rejects.
Value EmittedScalars::takeVerdict(Value number) const {
  Value slot = emit.bitAnd(number, 1);
  Value parity = emit.bitAnd(emit.shiftRight(number, 1), 1);
  Value barrier = emit.shared(emit.add(emit.mul(slot, ws::barrierBytes),
                                       emit.constant(verdicts.barrier(0))));
  nvx::MbarrierWaitOp::create(emit.builder, emit.loc, barrier, parity);
  Value word = emit.shared(
      emit.add(emit.mul(slot, ws::wordBytes), emit.constant(verdicts.word(0))));
  Value said = emit.load(word);
  LLVM::StoreOp::create(emit.builder, emit.loc, emit.constant(0), word);
  return emit.compare(arith::CmpIPredicate::ne, said, emit.constant(0));
}

struct ChooseItemPattern : ItemPattern<ws::ChooseItemOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::ChooseItemOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    ws::VerdictMemory verdicts = ws::memoryOf(items.verdict());
    auto variable = [&](ws::HandOutWord word) {
      return emit.shared(verdicts.handOut(word));
    };
    ws::HandOutState<Value> state;
    state.iteration = emit.load(variable(ws::iterationWord));
    state.known = emit.load(variable(ws::knownWord));
    state.before = emit.load(variable(ws::beforeWord));
    state.last = emit.load(variable(ws::lastWord));
    RoleItem next = items.items[op.getNext()];
    EmittedScalars scalars{emit, verdicts};
    auto chosen = ws::chooseItem(scalars, state, next.number, next.exists);
    auto store = [&](Value value, ws::HandOutWord word) {
      LLVM::StoreOp::create(rewriter, op.getLoc(), value, variable(word));
    };
    store(chosen.state.iteration, ws::iterationWord);
    store(chosen.state.known, ws::knownWord);
    store(chosen.state.before, ws::beforeWord);
    store(chosen.state.last, ws::lastWord);
    RoleItem item;
    item.number = chosen.number;
    item.exists = chosen.exists;
    item.second = chosen.second;
    item.verdictSlot = chosen.slot;
    findCoords(emit, items.taken, item);
    items.items[op.getWork()] = item;
    return items.done(op);
  }
};

} // namespace

void codegen::populateHandOutPatterns(RewritePatternSet &patterns,
                                      RoleItems &items) {
  patterns.add<TakeItemPattern, FetchWorkPattern, PutWorkPattern,
               GetWorkPattern, SlotAtPattern, ChooseItemPattern>(
      patterns.getContext(), items);
}
