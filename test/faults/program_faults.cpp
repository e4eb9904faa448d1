// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of the emitted program, including the code around a `ws.for`.
#include "fault.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace attn;
using namespace attn::faults;

namespace {

/// The faults of one role's program.
class ProgramFaults {
public:
  ProgramFaults(ws::RoleOp role, Faults &faults)
      : role(role), faults(faults), dominance(role) {}

  void add();

private:
  void addTo(Operation *op, StringRef kind, const Twine &detail,
             const std::function<void()> &plant) {
    faults.push_back(faultAt(op, kind, detail, [op, plant] {
      while (isa<ws::AwaitStoreOp>(op) &&
             isa_and_present<ws::AwaitStoreOp>(op->getPrevNode())) {
        op->getPrevNode()->erase();
      }
      plant();
    }));
  }
  void addDrop(Operation *op);
  void addItemDrop(Operation *op);
  void addMoves(Operation *op);
  void addLeave(Operation *op);
  void addEarly(Operation *op, StringRef detail, Operation *before);
  void addLate(Operation *op, StringRef detail, Operation *behind);
  void addEarlyRelease(ws::ReleaseOp release);
  void addOtherValues(Operation *op);
  void addOtherPiece(Operation *op);
  void addOtherBlock(Operation *op);
  void addControl(Operation *op);
  SmallVector<Value> othersThan(OpOperand &operand);

  ws::RoleOp role;
  Faults &faults;
  DominanceInfo dominance;
};

/// Whether `op` makes later ops wait: moving it later is a fault, moving it
/// earlier only makes others wait longer.
bool isWaiting(Operation *op) {
  return isa<ws::AcquireOp, ws::WaitOp, ws::GetWorkOp, ws::EndUnlessWorkOp,
             ws::AwaitOp, ws::TakeOp, ws::WaitEdgeOp>(op);
}

/// Whether `op` lets others continue.
bool isSignalling(Operation *op) {
  return isa<ws::ReleaseOp, ws::PutWorkOp, ws::GiveOp, ws::SignalOp>(op);
}

/// Whether moving `op` in either direction is a fault.
bool isAccess(Operation *op) {
  return isa<ws::PutOp, ws::StoreOp, ws::AwaitStoreOp, ws::SyncOp>(op);
}

/// Ops between `target` and `op` that move with it because `op` reads their
/// results; they have no effects. Fails if another op would have to move.
LogicalResult findProducers(Operation *op, Operation *target,
                            SetVector<Operation *> &producers) {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || producer->getBlock() != target->getBlock() ||
        (producer->isBeforeInBlock(target) && producer != target)) {
      continue;
    }
    if (producer == target || !isPure(producer) ||
        failed(findProducers(producer, target, producers))) {
      return failure();
    }
    producers.insert(producer);
  }
  return success();
}

/// The index operand that selects the piece or turn; null if `op` has none.
OpOperand *pieceOf(Operation *op) {
  if (auto mma = dyn_cast<ws::MmaOp>(op)) {
    return mma.getPiece() ? &mma.getPieceMutable()[0] : nullptr;
  }
  // The index of a `ws.give` is read by nobody.
  if (isa<ws::PutOp, ws::StoreOp, ws::HeldOp, ws::TakeOp>(op)) {
    return llvm::find_if(op->getOpOperands(), [](OpOperand &operand) {
      return operand.get().getType().isInteger(32);
    });
  }
  if (auto bounds = dyn_cast<tile::BoundsOp>(op)) {
    return bounds.getSubtile() ? &bounds.getSubtileMutable()[0] : nullptr;
  }
  return nullptr;
}

/// Rows of the tile that `op` copies or stores.
int64_t rowsOf(Operation *op) {
  if (auto copy = dyn_cast<ws::CopyOp>(op)) {
    return cast<ws::SlotType>(copy.getSlot().getType()).getTile().getDimSize(0);
  }
  auto store = cast<ws::StoreOp>(op);
  auto hold =
      SymbolTable::lookupNearestSymbolFrom<ws::HoldOp>(op, store.getHoldAttr());
  return cast<RankedTensorType>(hold.getType()).getDimSize(0);
}

Value constant(OpBuilder &builder, Operation *op, int64_t value) {
  return arith::ConstantIntOp::create(builder, op->getLoc(), value, 32);
}

/// Adds `value` to an operand.
void increase(OpOperand &operand, int64_t value) {
  Operation *op = operand.getOwner();
  OpBuilder builder(op);
  operand.set(arith::AddIOp::create(builder, op->getLoc(), operand.get(),
                                    constant(builder, op, value)));
}

} // namespace

/// Readers of the dropped op's results get those of an earlier op. A tile that
/// is put or stored twice is the same.
void ProgramFaults::addDrop(Operation *op) {
  if (isa<ws::AwaitStepOp>(op)) {
    return;
  }
  if (auto await = dyn_cast<ws::AwaitOp>(op)) {
    return addTo(op, "drop", "", [await]() mutable {
      await.replaceAllUsesWith(await.getValue());
      await.erase();
    });
  }
  if (op->getNumResults() == 0) {
    addTo(op, "drop", "", [op] { op->erase(); });
    if (!isa<ws::PutOp, ws::StoreOp, ws::AwaitStoreOp>(op)) {
      addTo(op, "double", "", [op] { OpBuilder(op).clone(*op); });
    }
    return;
  }
  if (isa<ws::ChooseItemOp, ws::ShareWorkOp>(op)) {
    return addItemDrop(op);
  }
  if (!isa<ws::WaitOp, ws::AcquireOp>(op)) {
    return;
  }
  addTo(op, "double", "", [op] { OpBuilder(op).clone(*op); });
  OpOperand *use =
      op->getResult(0).use_empty() ? nullptr : &*op->getResult(0).use_begin();
  for (Value other : use ? othersThan(*use) : SmallVector<Value>()) {
    if (dominance.properlyDominates(other, op)) {
      addTo(op, "drop", "takes the slot before", [op, other] {
        op->getResult(0).replaceAllUsesWith(other);
        op->erase();
      });
      return;
    }
  }
}

/// A rejected item is not handed out again; each CTA of a cluster takes items
/// for itself, or waits for items that nobody sends.
void ProgramFaults::addItemDrop(Operation *op) {
  if (auto choose = dyn_cast<ws::ChooseItemOp>(op)) {
    return addTo(op, "drop", "the choice", [choose]() mutable {
      choose.replaceAllUsesWith(choose.getNext());
      choose.erase();
    });
  }
  auto share = cast<ws::ShareWorkOp>(op);
  addTo(op, "drop", "the mailbox", [share]() mutable {
    Block &body = share.getBody().front();
    Operation *yield = body.getTerminator();
    share.replaceAllUsesWith(yield->getOperand(0));
    yield->erase();
    share->getBlock()->getOperations().splice(share->getIterator(),
                                              body.getOperations());
    share.erase();
  });
}

void ProgramFaults::addEarly(Operation *op, StringRef detail,
                             Operation *before) {
  SetVector<Operation *> producers;
  if (failed(findProducers(op, before, producers))) {
    return;
  }
  addTo(op, "early", detail, [op, before, producers] {
    for (Operation *producer : producers) {
      producer->moveBefore(before);
    }
    op->moveBefore(before);
  });
}

void ProgramFaults::addLate(Operation *op, StringRef detail,
                            Operation *behind) {
  for (Operation *user : op->getUsers()) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (!inBlock || !behind->isBeforeInBlock(inBlock)) {
      return;
    }
  }
  addTo(op, "late", detail, [op, behind] { op->moveAfter(behind); });
}

/// Moves the op past the events next to it, to the ends of its block, and out
/// of it. Waiting sooner, or releasing later, is a fault only if it ends in a
/// deadlock, so only the far moves of this kind are made.
void ProgramFaults::addMoves(Operation *op) {
  if (!isWaiting(op) && !isSignalling(op) && !isAccess(op)) {
    return;
  }
  SmallVector<Operation *> before, behind;
  for (Operation &each : *op->getBlock()) {
    if (&each != op && hasEvent(&each)) {
      (each.isBeforeInBlock(op) ? before : behind).push_back(&each);
    }
  }
  std::reverse(before.begin(), before.end());
  // Turns decide who is first, and guard no data.
  size_t near = isa<ws::TakeOp, ws::GiveOp>(op) ? 0 : 2;
  const char *names[] = {"over one", "over two"};
  bool awaitsStore = isa<ws::AwaitStoreOp>(op);
  for (size_t i = 0; i < std::min(before.size(), near) && !isWaiting(op); ++i) {
    if (!awaitsStore || isa<ws::StoreOp>(before[i])) {
      addEarly(op, names[i], before[i]);
    }
  }
  // A wait stays before the readers of its slot; being late within that range,
  // it does no harm.
  bool isLate = !isSignalling(op) && !isa<ws::WaitOp, ws::AcquireOp>(op);
  for (size_t i = 0; i < std::min(behind.size(), near) && isLate; ++i) {
    if (!awaitsStore || i == 0) {
      addLate(op, names[i], behind[i]);
    }
  }
  if (before.size() > 2 && !awaitsStore) {
    addEarly(op, "first of its block", before.back());
  }
  if (behind.size() > 2 && isLate) {
    addLate(op, "last of its block", behind.back());
  }
  addLeave(op);
}

/// Moves the op to the other side of a loop or branch around it.
void ProgramFaults::addLeave(Operation *op) {
  Operation *parent = op->getParentOp();
  bool leaves = isa<scf::ForOp, scf::IfOp, ws::WorkLoopOp>(parent) &&
                op->getNumResults() == 0;
  if (leaves && llvm::all_of(op->getOperands(), [&](Value operand) {
        return dominance.properlyDominates(operand, parent);
      })) {
    addTo(op, "early", "before its block",
          [op, parent] { op->moveBefore(parent); });
    addTo(op, "late", "behind its block",
          [op, parent] { op->moveAfter(parent); });
  }
}

/// Releases before the last product that reads the slot, and before the await
/// of that product.
void ProgramFaults::addEarlyRelease(ws::ReleaseOp release) {
  Operation *product = nullptr, *await = nullptr;
  for (Operation &op : *release->getBlock()) {
    if (&op == release) {
      break;
    }
    op.walk([&](ws::MmaOp mma) {
      if (mma.getA() == release.getSlot() || mma.getB() == release.getSlot()) {
        product = &op;
        await = mma == &op ? *mma.getToken().user_begin() : nullptr;
      }
    });
  }
  if (product) {
    addEarly(release, "before its product", product);
  }
  if (await && await->isBeforeInBlock(release)) {
    addEarly(release, "before the await of its product", await);
  }
}

/// At most two values of the operand's type, the latest ones.
SmallVector<Value> ProgramFaults::othersThan(OpOperand &operand) {
  SmallVector<Value> others;
  auto consider = [&](Value value) {
    bool fits = value.getType() == operand.get().getType() &&
                value != operand.get() && !value.getDefiningOp<ub::PoisonOp>();
    if (fits && dominance.properlyDominates(value, operand.getOwner())) {
      others.push_back(value);
    }
  };
  role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), consider);
    for (Region &region : op->getRegions()) {
      llvm::for_each(region.getArguments(), consider);
    }
  });
  std::reverse(others.begin(), others.end());
  others.truncate(std::min<size_t>(others.size(), 2));
  return others;
}

/// Slots and tiles of another cycle.
void ProgramFaults::addOtherValues(Operation *op) {
  bool passes = isa<scf::YieldOp, scf::ForOp, ws::YieldOp, ws::ForOp>(op);
  if (!isEvent(op) && !passes && !isa<tile::ConvertLayoutOp>(op)) {
    return;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    auto tile = dyn_cast<RankedTensorType>(type);
    // Of the tiles that a loop carries, only P.
    bool isTile = tile && tile.hasStaticShape() && tile.getRank() == 2 &&
                  (!passes || tile.getElementTypeBitWidth() == 16);
    if (!isa<ws::SlotType>(type) && !isTile) {
      continue;
    }
    for (auto [i, other] : llvm::enumerate(othersThan(operand))) {
      addTo(op, isTile ? "other tile" : "other slot",
            "operand " + Twine(operand.getOperandNumber()) + ", " +
                (i ? "two" : "one") + " before",
            [&operand, other = other] { operand.set(other); });
    }
  }
}

void ProgramFaults::addOtherPiece(Operation *op) {
  OpOperand *piece = pieceOf(op);
  int64_t replicas = role.getReplicas();
  if (!piece || replicas == 1) {
    return;
  }
  addTo(op, "other piece", "", [op, piece, replicas] {
    increase(*piece, 1);
    OpBuilder builder(op);
    piece->set(arith::RemUIOp::create(builder, op->getLoc(), piece->get(),
                                      constant(builder, op, replicas)));
  });
}

void ProgramFaults::addOtherBlock(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  if (branch && op->getParentRegion() == &branch.getElseRegion()) {
    return; // an item without keys: nothing reads its Q
  }
  OpOperand *row = nullptr;
  if (auto copy = dyn_cast<ws::CopyOp>(op)) {
    row = &copy.getRowMutable();
  } else if (auto store = dyn_cast<ws::StoreOp>(op)) {
    row = &store.getRowMutable();
  } else {
    return;
  }
  int64_t rows = rowsOf(op);
  addTo(op, "other block", "the next", [row, rows] { increase(*row, rows); });
}

/// Trips and branches.
void ProgramFaults::addControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && hasEvent(op)) {
    std::pair<OpOperand *, const char *> ends[] = {
        {&loop.getLowerBoundMutable(), "from"},
        {&loop.getUpperBoundMutable(), "to"}};
    for (auto [end, name] : ends) {
      for (int64_t by : {-1, 1}) {
        addTo(op, "trips", Twine(name) + (by < 0 ? " one less" : " one more"),
              [end = end, by] { increase(*end, by); });
      }
    }
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && hasEvent(op)) {
    addTo(op, "trips", "the other branch", [branch]() mutable {
      OpBuilder builder(branch);
      Value yes =
          arith::ConstantIntOp::create(builder, branch.getLoc(), true, 1);
      branch.getConditionMutable().set(arith::XOrIOp::create(
          builder, branch.getLoc(), branch.getCondition(), yes));
    });
  }
}

void ProgramFaults::add() {
  role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ws::AwaitStoreOp>(op) &&
        isa_and_present<ws::AwaitStoreOp>(op->getNextNode())) {
      return; // the last of several in a row stands for all
    }
    if (isEvent(op) && !isa<ws::MmaOp>(op)) {
      addDrop(op);
      addMoves(op);
    }
    if (auto release = dyn_cast<ws::ReleaseOp>(op)) {
      addEarlyRelease(release);
    }
    addOtherValues(op);
    addOtherPiece(op);
    addOtherBlock(op);
    addControl(op);
  });
}

/// Changes of the attributes of channels and edges. Nothing reads
/// `full_implied`. A ring with fewer slots, or one that each CTA of a cluster
/// fills for itself, is only slower.
static void addDeclarationFaults(Operation *op, Faults &faults) {
  auto add = [&](StringRef detail, std::function<void()> plant) {
    faults.push_back(faultAt(op, "declaration", detail, std::move(plant)));
  };
  if (auto channel = dyn_cast<ws::ChannelOp>(op)) {
    add("free_implied", [channel]() mutable {
      channel.setFreeImplied(!channel.getFreeImplied());
    });
    add("depth one more",
        [channel]() mutable { channel.setDepth(channel.getDepth() + 1); });
  }
  if (auto edge = dyn_cast<ws::EdgeOp>(op)) {
    add("credits one more",
        [edge]() mutable { edge.setCredits(edge.getCredits() + 1); });
    if (edge.getCredits()) {
      add("credits one less",
          [edge]() mutable { edge.setCredits(edge.getCredits() - 1); });
    }
    if (edge.getCluster()) {
      add("no cluster", [edge]() mutable { edge.setCluster(false); });
    }
  }
}

void faults::addProgramFaults(ws::KernelOp kernel, Faults &faults) {
  for (Operation &op : kernel.getBody().front()) {
    addDeclarationFaults(&op, faults);
    if (auto role = dyn_cast<ws::RoleOp>(op)) {
      ProgramFaults(role, faults).add();
    }
  }
}
