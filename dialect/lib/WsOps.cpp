// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the `ws` dialect's structure; labels are those of WsOps.td.
#include "WsWorkOps.h"

using namespace mlir;
using namespace attn::ws;

//===----------------------------------------------------------------------===//
// Tiles in shared memory.
//===----------------------------------------------------------------------===//

static bool isSmemTile(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getRank() == 2 && tile.hasStaticShape() &&
         tile.getElementType().isIntOrFloat() &&
         tile.getElementTypeBitWidth() == 16;
}

RankedTensorType SlotType::workItemType(MLIRContext *context) {
  constexpr int64_t bits = 32;
  return RankedTensorType::get({workItemBytes * 8 / bits},
                               IntegerType::get(context, bits));
}

static bool isWorkItem(Type type) {
  return type == SlotType::workItemType(type.getContext());
}

LogicalResult SlotType::verify(function_ref<InFlightDiagnostic()> emitError,
                               FlatSymbolRefAttr, RankedTensorType tile) {
  if (!isSmemTile(tile) && !isWorkItem(tile)) { // C1
    return emitError() << "expected a static 16-bit tile of rank 2, or "
                          "tensor<4xi32> for a work item, got "
                       << tile;
  }
  return success();
}

int64_t attn::ws::tileBytes(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
}

LogicalResult ChannelOp::verify() {
  if (getTypes().empty()) { // C2
    return emitOpError("expected at least one type, got none");
  }
  if (carriesWork()) {
    return success();
  }
  for (Type type : getTypes().getAsValueRange<TypeAttr>()) {
    if (!isSmemTile(type)) {
      return emitOpError("expected static 16-bit tiles of rank 2, or "
                         "tensor<4xi32> alone for work items, got ")
             << type;
    }
  }
  return success();
}

bool ChannelOp::carriesWork() {
  return getTypes().size() == 1 &&
         isWorkItem(cast<TypeAttr>(getTypes()[0]).getValue());
}

int64_t ChannelOp::getAlignment() {
  return carriesWork() ? workItemBytes : tileAlignment;
}

int64_t ChannelOp::getSlotBytes() {
  int64_t bytes = 0;
  for (Type type : getTypes().getAsValueRange<TypeAttr>()) {
    bytes = std::max(bytes, tileBytes(type));
  }
  return llvm::alignTo(bytes, getAlignment());
}

LogicalResult HeldOp::verify() {
  if (getTile().getType().getChannel() != getHoldAttr()) { // C1
    return emitOpError("expected a slot of ")
           << getHoldAttr() << ", got " << getTile().getType();
  }
  return success();
}

LogicalResult HoldOp::verify() {
  if (!isSmemTile(getType())) { // C2
    return emitOpError("expected a static 16-bit tile of rank 2, got ")
           << getType();
  }
  return success();
}

int64_t HoldOp::getPieceBytes() {
  return llvm::alignTo(tileBytes(getType()), tileAlignment);
}

//===----------------------------------------------------------------------===//
// Kernels and roles.
//===----------------------------------------------------------------------===//

/// The op that `name` declares in the kernel, if it is an `Op`.
template <typename Op>
static FailureOr<Op> expectSymbol(KernelOp kernel, Operation *user,
                                  FlatSymbolRefAttr name) {
  Operation *found = kernel.lookupSymbol(name.getAttr());
  if (auto op = dyn_cast_or_null<Op>(found)) {
    return op;
  }
  InFlightDiagnostic error = user->emitOpError("expected ")
                             << name << " to be a '" << Op::getOperationName()
                             << "' of the kernel, got ";
  if (!found) {
    error << "no such symbol";
    return error;
  }
  error << "a '" << found->getName() << "'";
  error.attachNote(found->getLoc()) << "declared here";
  return error;
}

/// C4 of ws.kernel, for a piece of a hold.
static LogicalResult verifyPiece(KernelOp kernel, Operation *user,
                                 SlotType slot) {
  auto hold = expectSymbol<HoldOp>(kernel, user, slot.getChannel());
  if (failed(hold)) {
    return failure();
  }
  auto type = cast<RankedTensorType>(hold->getType());
  if (slot.getTile().getShape() == type.getShape() &&
      slot.getTile().getElementType() == type.getElementType()) {
    return success();
  }
  return user->emitOpError("expected the tile of ")
         << slot.getChannel() << ", " << type << ", got " << slot.getTile();
}

/// C4 of ws.kernel.
static LogicalResult verifySlot(KernelOp kernel, Operation *user, Type type) {
  auto slot = dyn_cast<SlotType>(type);
  if (!slot) {
    return success();
  }
  auto channel = expectSymbol<ChannelOp>(kernel, user, slot.getChannel());
  if (failed(channel)) {
    return failure();
  }
  auto types = channel->getTypes().getAsValueRange<TypeAttr>();
  if (!llvm::is_contained(types, slot.getTile())) {
    InFlightDiagnostic error = user->emitOpError("expected a tile that ")
                               << slot.getChannel() << " carries, got "
                               << slot.getTile();
    error.attachNote(channel->getLoc())
        << "the channel carries " << channel->getTypes();
    return error;
  }
  return success();
}

static LogicalResult verifySlots(KernelOp kernel, Operation *op) {
  if (auto held = dyn_cast<HeldOp>(op)) {
    return verifyPiece(kernel, held, held.getTile().getType());
  }
  if (auto at = dyn_cast<SlotAtOp>(op);
      at && isa_and_present<HoldOp>(
                kernel.lookupSymbol(at.getSlot().getType().getChannel()))) {
    return verifyPiece(kernel, at, at.getSlot().getType());
  }
  for (Type type : op->getResultTypes()) {
    if (failed(verifySlot(kernel, op, type))) {
      return failure();
    }
  }
  for (Region &region : op->getRegions()) {
    for (Type type : region.getArgumentTypes()) {
      if (failed(verifySlot(kernel, op, type))) {
        return failure();
      }
    }
  }
  return success();
}

/// C5 of ws.kernel.
static LogicalResult verifyPut(KernelOp kernel, PutOp put) {
  auto hold = expectSymbol<HoldOp>(kernel, put, put.getHoldAttr());
  if (failed(hold)) {
    return failure();
  }
  auto tile = dyn_cast<RankedTensorType>(put.getValue().getType());
  auto held = cast<RankedTensorType>(hold->getType());
  if (tile && (tile.getShape() != held.getShape() ||
               tile.getElementType() != held.getElementType())) {
    return put.emitOpError("expected a tile of the type of ")
           << put.getHoldAttr() << ", " << held << ", got " << tile;
  }
  return success();
}

static LogicalResult verifyStore(KernelOp kernel, StoreOp store) {
  auto hold = expectSymbol<HoldOp>(kernel, store, store.getHoldAttr());
  if (failed(hold)) {
    return failure();
  }
  auto held = dyn_cast<RankedTensorType>(hold->getType());
  auto dest = cast<RankedTensorType>(store.getDest().getType());
  if (held.getElementType() != dest.getElementType() ||
      held.getShape().back() < dest.getShape().back()) {
    return store.emitOpError("expected 'dest' to have the element type and at "
                             "most the last dimension of ")
           << store.getHoldAttr() << ", " << held << ", got " << dest;
  }
  return success();
}

/// C6 of ws.kernel, for what the replicas of one role share.
template <typename Op>
static LogicalResult verifyRing(KernelOp kernel, Operation *user,
                                FlatSymbolRefAttr name) {
  FailureOr<Op> shared = expectSymbol<Op>(kernel, user, name);
  if (failed(shared)) {
    return failure();
  }
  auto role = user->getParentOfType<RoleOp>();
  if (!role || role.getSymNameAttr() != shared->getRingAttr().getAttr()) {
    InFlightDiagnostic error = user->emitOpError("expected to be in role ")
                               << shared->getRingAttr() << ", the ring of "
                               << name << ", got ";
    return role ? error << "role @" << role.getSymName() : error << "no role";
  }
  return success();
}

/// C7 and C8 of ws.kernel.
static LogicalResult verifyDeclaration(KernelOp kernel, Operation *op) {
  if (auto turn = dyn_cast<TurnOp>(op)) {
    return expectSymbol<RoleOp>(kernel, op, turn.getRingAttr());
  }
  if (auto sync = dyn_cast<RendezvousOp>(op)) {
    return expectSymbol<RoleOp>(kernel, op, sync.getRingAttr());
  }
  auto over = op->getAttrOfType<FlatSymbolRefAttr>("over");
  if (!over || !isa<ChannelOp, HoldOp>(op)) {
    return success();
  }
  Operation *host = kernel.lookupSymbol(over.getAttr());
  if (host == op || !isa_and_present<ChannelOp, HoldOp>(host)) {
    return op->emitOpError("expected to be over another channel or hold of "
                           "the kernel, got ")
           << over;
  }
  return success();
}

/// C4 to C8, C11: what the kernel's body names is declared in it.
static LogicalResult verifySymbolUses(KernelOp kernel, Operation *op) {
  if (failed(verifySlots(kernel, op))) {
    return failure();
  }
  // Most ops compute, and name nothing.
  if (!isa_and_present<WsDialect>(op->getDialect())) {
    return success();
  }
  if (failed(verifyDeclaration(kernel, op))) {
    return failure();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<CopyOp, PutWorkOp, ReleaseOp>([&](auto user) {
        return expectSymbol<ChannelOp>(kernel, user,
                                       user.getSlot().getType().getChannel());
      })
      .Case([&](PutOp put) { return verifyPut(kernel, put); })
      .Case([&](StoreOp store) { return verifyStore(kernel, store); })
      .Case([&](TakeOp take) {
        return verifyRing<TurnOp>(kernel, take, take.getTurnAttr());
      })
      .Case([&](GiveOp give) {
        return verifyRing<TurnOp>(kernel, give, give.getTurnAttr());
      })
      .Case([&](SyncOp sync) {
        return verifyRing<RendezvousOp>(kernel, sync, sync.getRendezvousAttr());
      })
      .Case([&](SignalOp signal) {
        return expectSymbol<EdgeOp>(kernel, signal, signal.getEdgeAttr());
      })
      .Case([&](WaitEdgeOp wait) {
        return expectSymbol<EdgeOp>(kernel, wait, wait.getEdgeAttr());
      })
      .Case<GiveVerdictOp, SecondRunOp, ChooseItemOp>([&](auto user) {
        return expectSymbol<VerdictOp>(kernel, user, user.getVerdictAttr());
      })
      .Case([&](ShareWorkOp share) {
        return expectSymbol<MailboxOp>(kernel, share, share.getMailboxAttr());
      })
      .Default(success());
}

/// No effects and no tiles.
static bool isPureScalar(Operation &op) {
  return isMemoryEffectFree(&op) &&
         llvm::none_of(op.getResultTypes(),
                       [](Type type) { return isa<ShapedType>(type); });
}

/// C12 of ws.kernel.
static LogicalResult verifyAccessOf(KernelOp kernel, Operation *op) {
  namespace tile = attn::tile;
  auto check = [&](Value tensor, attn::ArgumentAccess access) {
    return attn::verifyArgumentUse(op, tensor, access, kernel.getArgs(),
                                   kernel.getBody().front());
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<CopyOp, tile::LoadOp, tile::LoadRowOp, tile::GatherOp>(
          [&](auto op) {
            return check(op.getSource(), attn::ArgumentAccess::Read);
          })
      .Case<StoreOp, tile::StoreRowOp, tile::StoreRegOp>([&](auto op) {
        return check(op.getDest(), attn::ArgumentAccess::Write);
      })
      .Case([&](tile::ReduceAddOp op) {
        return check(op.getDest(), attn::ArgumentAccess::Accumulate);
      })
      .Default(success());
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(attn::verifyArguments(*this, getArgs(),
                                   getBody().front()))) { // C1
    return failure();
  }
  if (getBody().getOps<RoleOp>().empty()) { // C2
    return emitOpError("expected at least one role, got none");
  }
  for (Operation &op : getBody().getOps()) { // C3
    if (!isa<ChannelOp, HoldOp, EdgeOp, TurnOp, RendezvousOp, VerdictOp,
             MailboxOp, StampsOp, SetupOp, RoleOp>(op) &&
        !isPureScalar(op)) {
      return op.emitOpError("expected only declarations, roles and pure "
                            "scalar ops in 'ws.kernel'");
    }
  }
  WalkResult result = walk([&](Operation *op) {
    bool isWrong =
        op != getOperation() && (failed(verifySymbolUses(*this, op)) ||
                                 failed(verifyAccessOf(*this, op)));
    return isWrong ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted() || failed(verifyItems(*this)));
}

LogicalResult RoleOp::verifyRegions() {
  if (getBody().getNumArguments() != 1 ||
      !getBody().getArgument(0).getType().isInteger(32)) { // C1
    return emitOpError("expected one block argument of type i32, got (")
           << getBody().getArgumentTypes() << ")";
  }
  return success();
}

/// Whether another role puts what is stored: then nobody here has to make it
/// visible.
static bool isPutElsewhere(StoreOp store) {
  auto role = store->getParentOfType<RoleOp>();
  return role->getParentOfType<KernelOp>()
      .walk([&](PutOp put) {
        return put.getHold() == store.getHold() &&
                       put->getParentOfType<RoleOp>() != role
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool RoleOp::isSingleThread() {
  WalkResult result = walk([](Operation *op) {
    auto store = dyn_cast<StoreOp>(op);
    bool ofThreads = isa<MmaOp, PutOp, attn::tile::LoadOp,
                         attn::tile::LoadRowOp, attn::tile::StoreRowOp,
                         attn::tile::StoreRegOp, attn::tile::ReduceAddOp>(op);
    return ofThreads || (store && !isPutElsewhere(store))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// The streaming loop.
//===----------------------------------------------------------------------===//

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

/// The body ends with a ws.yield of `types`.
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
  for (auto [number, range] : llvm::enumerate(loop.getRanges().getList())) {
    if (range.getKind() == attn::tile::RangeKind::Skipped && number > 0) {
      return loop.emitOpError("expected the first range alone to be skipped, "
                              "got range ")
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
  if (loop.getResultTypes() != loop.getInits().getTypes()) {
    return loop.emitOpError("expected results (")
           << loop.getInits().getTypes() << "), got (" << loop.getResultTypes()
           << ")";
  }
  return verifyYield(loop, block, loop.getResultTypes());
}

/// C1 and C3 of ws.for.
static LogicalResult verifyEntries(ForOp loop) {
  llvm::SmallDenseSet<int64_t> slots;
  std::optional<int64_t> maskedShift;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    auto entry = dyn_cast<EntryOp>(op);
    if (!entry) { // C1
      return op.emitOpError("expected only 'ws.entry' in the body of 'ws.for'");
    }
    if (!slots.insert(entry.getSlot()).second) {
      return entry.emitOpError("expected a slot of its own, got slot ")
             << entry.getSlot() << " a second time";
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
    if (age < 0 || (age == 0 && writer.getSlot() >= reader.getSlot())) {
      InFlightDiagnostic error =
          reader.emitOpError("V8: expected what '")
          << reader.getName() << "' reads to be computed before, got '"
          << writer.getName() << "' of slot " << writer.getSlot() << ", shift "
          << writer.getShift();
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
  if (getGuard() && *getGuard() != "once" && *getGuard() != "last") { // C2
    return emitOpError("expected guard 'once' or 'last', got '")
           << *getGuard() << "'";
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
