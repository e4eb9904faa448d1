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

/// A static row vector of f32, in units of 16 bytes.
static bool isSmemRow(Type type) {
  auto row = dyn_cast<RankedTensorType>(type);
  return row && row.getRank() == 1 && row.hasStaticShape() &&
         row.getElementType().isF32() && row.getDimSize(0) > 0 &&
         row.getDimSize(0) % 4 == 0;
}

LogicalResult SlotType::verify(function_ref<InFlightDiagnostic()> emitError,
                               FlatSymbolRefAttr, RankedTensorType tile) {
  if (!isSmemTile(tile) && !isSmemRow(tile) && !isWorkItem(tile)) { // C1
    return emitError() << "expected a static 16-bit tile of rank 2, a row "
                          "vector of f32, or tensor<4xi32> for a work item, "
                          "got "
                       << tile;
  }
  return success();
}

int64_t attn::ws::tileBytes(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
}

LogicalResult ChannelOp::verify() {
  if (carriesWork() || carriesRows()) {
    return success();
  }
  for (Type type : getTypes().getAsValueRange<TypeAttr>()) {
    if (!isSmemTile(type)) {
      return emitOpError("expected static 16-bit tiles of rank 2, row vectors "
                         "of f32 alone, or tensor<4xi32> alone for work "
                         "items, got ")
             << type;
    }
  }
  return success();
}

bool ChannelOp::carriesRows() {
  return llvm::all_of(getTypes().getAsValueRange<TypeAttr>(), isSmemRow);
}

bool ChannelOp::carriesWork() {
  return getTypes().size() == 1 &&
         isWorkItem(cast<TypeAttr>(getTypes()[0]).getValue());
}

int64_t ChannelOp::getAlignment() {
  return carriesWork()   ? workItemBytes
         : carriesRows() ? rowAlignment
                         : tileAlignment;
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

int64_t HoldOp::getPieceBytes() {
  return llvm::alignTo(tileBytes(getType()), tileAlignment);
}

//===----------------------------------------------------------------------===//
// Kernels and roles.
//===----------------------------------------------------------------------===//

/// Returns the op that `name` declares in the kernel, if it is an `Op`.
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
                                 SlotType slot, bool mayBeWhole,
                                 bool mayBePiece) {
  auto hold = expectSymbol<HoldOp>(kernel, user, slot.getChannel());
  if (failed(hold)) {
    return failure();
  }
  auto type = cast<RankedTensorType>(hold->getType());
  auto whole = type.clone(
      {type.getDimSize(0) * int64_t(hold->getPieces()), type.getDimSize(1)});
  auto isOf = [&](RankedTensorType held) {
    return slot.getTile().getShape() == held.getShape() &&
           slot.getTile().getElementType() == held.getElementType();
  };
  if ((mayBePiece && isOf(type)) || (mayBeWhole && isOf(whole))) {
    return success();
  }
  return user->emitOpError("expected the tile of ")
         << slot.getChannel() << ", " << (mayBePiece ? type : whole) << ", got "
         << slot.getTile();
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
    bool isWhole = !held.getPiece();
    return verifyPiece(kernel, held, held.getTile().getType(), isWhole,
                       !isWhole);
  }
  if (auto at = dyn_cast<SlotAtOp>(op);
      at && isa_and_present<HoldOp>(
                kernel.lookupSymbol(at.getSlot().getType().getChannel()))) {
    return verifyPiece(kernel, at, at.getSlot().getType(), true, true);
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

/// C3 of ws.reduce_add
static LogicalResult verifyReduceAdd(KernelOp kernel, ReduceAddOp add) {
  auto hold = expectSymbol<HoldOp>(kernel, add, add.getHoldAttr());
  if (failed(hold)) {
    return failure();
  }
  auto held = cast<RankedTensorType>(hold->getType());
  auto dest = cast<RankedTensorType>(add.getDest().getType());
  int64_t columns = held.getDimSize(add.getTransposed() ? 0 : 1),
          all = dest.getDimSize(3);
  bool isUneven = add.getTransposed() && all % attn::kRowsOfSums != 0;
  if (!held.getElementType().isF32() || isUneven ||
      (add.getColumn() ? columns > all : columns != all)) {
    return add.emitOpError("expected 'dest' to have the element type and the "
                           "columns of ")
           << add.getHoldAttr() << ", " << held << ", got " << dest;
  }
  auto role = add->getParentOfType<RoleOp>();
  if (add.getTransposed() && !(role && role.isSingleThread())) { // C4
    return add.emitOpError("expected 'transposed' only where one thread adds "
                           "what another role puts, got it in the role that "
                           "puts ")
           << add.getHoldAttr();
  }
  return success();
}

/// C6 of ws.kernel, for objects that the replicas of one role share.
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

/// C3 of ws.channel.
static LogicalResult verifyWith(KernelOp kernel, ChannelOp channel) {
  if (!channel.getWith()) {
    return success();
  }
  auto other = expectSymbol<ChannelOp>(kernel, channel, channel.getWithAttr());
  if (failed(other)) {
    return failure();
  }
  if (channel.carriesRows() && channel.getFreeImplied() &&
      channel.getDepth() == other->getDepth() && !other->getWith()) {
    return success();
  }
  return channel.emitOpError("expected row vectors, 'free_implied' and the "
                             "depth of a channel with barriers of its own, "
                             "got ")
         << channel.getTypes() << " of depth " << channel.getDepth()
         << (channel.getFreeImplied() ? "" : " without 'free_implied'")
         << " with " << channel.getWithAttr() << " of depth "
         << other->getDepth();
}

/// C7 and C8 of ws.kernel.
static LogicalResult verifyDeclaration(KernelOp kernel, Operation *op) {
  if (auto turn = dyn_cast<TurnOp>(op)) {
    return expectSymbol<RoleOp>(kernel, op, turn.getRingAttr());
  }
  if (auto sync = dyn_cast<RendezvousOp>(op)) {
    return expectSymbol<RoleOp>(kernel, op, sync.getRingAttr());
  }
  if (auto channel = dyn_cast<ChannelOp>(op);
      channel && failed(verifyWith(kernel, channel))) {
    return failure();
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

/// C4 to C8, C11: names used in the kernel's body are declared in it.
static LogicalResult verifySymbolUses(KernelOp kernel, Operation *op) {
  if (failed(verifySlots(kernel, op))) {
    return failure();
  }
  // Most ops compute, and use no names.
  if (!isa_and_present<WsDialect>(op->getDialect())) {
    return success();
  }
  if (failed(verifyDeclaration(kernel, op))) {
    return failure();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<CopyOp, ReadRowOp, PutWorkOp, ReleaseOp>([&](auto user) {
        return expectSymbol<ChannelOp>(kernel, user,
                                       user.getSlot().getType().getChannel());
      })
      .Case([&](PutOp put) { return verifyPut(kernel, put); })
      .Case([&](StoreOp store) { return verifyStore(kernel, store); })
      .Case([&](ReduceAddOp add) { return verifyReduceAdd(kernel, add); })
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

namespace {

/// Compares values, and remembers pairs that are equal.
class SameValues {
public:
  /// Whether two values are the same, or the same constants and scalar
  /// arithmetic.
  bool areSame(Value a, Value b);
  bool areSame(ValueRange a, ValueRange b) {
    return llvm::all_of_zip(a, b,
                            [&](Value a, Value b) { return areSame(a, b); });
  }

private:
  llvm::DenseSet<std::pair<Value, Value>> known;
};

} // namespace

bool SameValues::areSame(Value a, Value b) {
  if (a == b || known.contains({a, b})) {
    return true;
  }
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  bool same =
      first && second && isPureScalar(*first) &&
      cast<OpResult>(a).getResultNumber() ==
          cast<OpResult>(b).getResultNumber() &&
      OperationEquivalence::isEquivalentTo(
          first, second,
          [&](Value a, Value b) { return success(areSame(a, b)); },
          /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
  if (same) {
    known.insert({a, b});
  }
  return same;
}

namespace {

/// C15 and C17 of ws.kernel: all roles run the same items, cut in the same way.
class SameWork {
public:
  explicit SameWork(KernelOp kernel)
      : kernel(kernel), parts(kernel.getConfig().getLastWaveParts()) {}

  LogicalResult verify();

private:
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyLoop(WorkLoopOp loop);
  template <typename Op> LogicalResult verifyExtents(Op op);
  LogicalResult verifySection(Operation *op, Value section);
  LogicalResult verifyCut(attn::tile::CutOp cut);
  LogicalResult verifyOfCut(Operation *op, ValueRange parts);

  KernelOp kernel;
  int64_t parts;
  WorkLoopOp firstLoop;
  Operation *firstMade = nullptr;
  Value firstSection;
  size_t cuts = 0, joins = 0;
  SameValues values;
};

} // namespace

template <typename Op> static SmallVector<Value> extentsOf(Op op) {
  return {op.getBlocks(), op.getHeads(), op.getBatches()};
}

/// C15 between two work loops: the roles run over the same items together.
LogicalResult SameWork::verifyLoop(WorkLoopOp loop) {
  firstLoop = firstLoop ? firstLoop : loop;
  if (values.areSame(extentsOf(firstLoop), extentsOf(loop))) {
    return success();
  }
  InFlightDiagnostic error =
      loop.emitOpError("expected all work loops of the kernel to have the "
                       "same extents, got others");
  error.attachNote(firstLoop.getLoc()) << "the first work loop";
  return error;
}

/// C15 within a work loop.
template <typename Op> LogicalResult SameWork::verifyExtents(Op op) {
  auto loop = op->template getParentOfType<WorkLoopOp>();
  if (!loop || values.areSame(extentsOf(loop), extentsOf(op))) {
    return success();
  }
  InFlightDiagnostic error =
      op.emitOpError("expected the extents of its work loop, got others");
  error.attachNote(loop.getLoc()) << "the work loop";
  return error;
}

LogicalResult SameWork::verifySection(Operation *op, Value section) {
  if (!firstMade) {
    firstMade = op;
    firstSection = section;
    return success();
  }
  if (bool(section) == bool(firstSection) &&
      (!section || values.areSame(section, firstSection))) {
    return success();
  }
  InFlightDiagnostic error =
      op->emitOpError("expected the 'section' of the other roles, got ")
      << (section ? "another" : "none");
  error.attachNote(firstMade->getLoc()) << "the first one";
  return error;
}

LogicalResult SameWork::verifyCut(attn::tile::CutOp cut) {
  ++cuts;
  if (parts > 1 && static_cast<int64_t>(cut.getMost()) != parts) {
    return cut.emitOpError("expected as many parts as 'last_wave_parts', ")
           << parts << ", got " << cut.getMost();
  }
  if (cut->getParentOp() != kernel) {
    return cut.emitOpError(
               "expected to be an op of the 'ws.kernel', got one of "
               "a '")
           << cut->getParentOp()->getName() << "'";
  }
  return success();
}

/// Checks that parts come from the kernel's `tile.cut`, which the launch plan
/// computes.
LogicalResult SameWork::verifyOfCut(Operation *op, ValueRange parts) {
  for (Value value : parts) {
    if (!value.getDefiningOp<attn::tile::CutOp>()) {
      return op->emitOpError("expected parts as a 'tile.cut' has them, got "
                             "another number");
    }
  }
  return success();
}

LogicalResult SameWork::verifyOp(Operation *op) {
  namespace tile = attn::tile;
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](WorkLoopOp loop) { return verifyLoop(loop); })
      .Case<tile::NextWorkOp, TakeItemOp>([&](auto next) {
        SmallVector<Value> cut;
        if (next.getWhole()) {
          cut = {next.getWhole(), next.getParts()};
        }
        return failure(failed(verifyExtents(next)) ||
                       failed(verifySection(next, next.getSection())) ||
                       failed(verifyOfCut(next, cut)));
      })
      .Case([&](tile::CutOp cut) { return verifyCut(cut); })
      .Case([&](tile::JoinOp join) {
        ++joins;
        return verifyOfCut(join, join.getParts());
      })
      .Case([&](tile::PartOfOp part) -> LogicalResult {
        if (parts > 1) {
          return success();
        }
        return part.emitOpError("expected 'last_wave_parts' above 1, got ")
               << parts;
      })
      .Default(success());
}

LogicalResult SameWork::verify() {
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(verifyOp(op)) ? WalkResult::interrupt()
                                : WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  size_t most = parts > 1 ? 1 : 0;
  if (cuts > most || joins > most) {
    return kernel.emitOpError("expected at most ")
           << most << " 'tile.cut' and 'tile.join' where 'last_wave_parts' is "
           << parts << ", got " << cuts << " and " << joins;
  }
  return success();
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
      .Case([&](tile::ScatterOp op) {
        return check(op.getDest(), op.getAdd()
                                       ? attn::ArgumentAccess::Accumulate
                                       : attn::ArgumentAccess::Write);
      })
      .Case<StoreOp, tile::StoreRowOp, tile::StoreRegOp>([&](auto op) {
        return check(op.getDest(), attn::ArgumentAccess::Write);
      })
      .Case([&](ReduceAddOp op) {
        return check(op.getDest(), attn::ArgumentAccess::Accumulate);
      })
      .Case([&](tile::ReduceAddOp op) {
        return check(op.getDest(), op.getFirst()
                                       ? attn::ArgumentAccess::Write
                                       : attn::ArgumentAccess::Accumulate);
      })
      .Case<tile::TurnWaitOp, tile::TurnPassOp>([&](auto op) {
        return check(op.getTurns(), attn::ArgumentAccess::Accumulate);
      })
      .Default(success());
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(attn::verifyArguments(*this, getArgs(), getProblem(),
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
  return failure(result.wasInterrupted() || failed(verifyItems(*this)) ||
                 failed(SameWork(*this).verify()));
}

LogicalResult RoleOp::verifyRegions() {
  if (getBody().getNumArguments() != 1 ||
      !getBody().getArgument(0).getType().isInteger(32)) { // C1
    return emitOpError("expected one block argument of type i32, got (")
           << getBody().getArgumentTypes() << ")";
  }
  return success();
}

/// Whether another role puts the tile that is stored or added to memory: then
/// this role need not make it visible.
static bool isPutElsewhere(Operation *op, StringRef hold) {
  auto role = op->getParentOfType<RoleOp>();
  return role->getParentOfType<KernelOp>()
      .walk([&](PutOp put) {
        return put.getHold() == hold && put->getParentOfType<RoleOp>() != role
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool RoleOp::isSingleThread() {
  WalkResult result = walk([](Operation *op) {
    bool isKept = TypeSwitch<Operation *, bool>(op)
                      .Case<StoreOp, ReduceAddOp>([](auto moved) {
                        return !isPutElsewhere(moved, moved.getHold());
                      })
                      .Default(false);
    bool ofThreads =
        isa<MmaOp, PutOp, ReadRowOp, attn::tile::LoadOp, attn::tile::LoadRowOp,
            attn::tile::StoreRowOp, attn::tile::StoreRegOp,
            attn::tile::ScatterOp, attn::tile::ReduceAddOp>(op);
    return ofThreads || isKept ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  return !result.wasInterrupted();
}
