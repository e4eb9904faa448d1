// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepEmitter.h"
#include "attn/dialect/QueryRows.h"

using namespace mlir;
using namespace attn;

LogicalResult StepEmitter::emit(tile::StepOp step,
                                std::optional<int64_t> ofSubtile) {
  subtile = ofSubtile;
  for (Operation &op : step.getBody().front()) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && !program.isInRegisters(step.getResult(0))) {
      return emitLoad(step, load);
    }
    auto rows = dyn_cast<tile::LoadRowOp>(op);
    if (rows && program.channelOf(step.getResult(0))) {
      return emitLoad(step, rows);
    }
    if (auto mma = dyn_cast<tile::MmaOp>(op)) {
      return emitMma(step, mma);
    }
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      return emitStore(step, store);
    }
    if (auto add = dyn_cast<tile::ReduceAddOp>(op);
        add && holdOfArgument(add.getTile())) {
      return emitReduceAdd(step, add);
    }
  }
  return emitCompute(step);
}

/// Clones the body of a step without `except` and the yield; maps its
/// arguments.
LogicalResult StepEmitter::cloneBody(tile::StepOp step, Operation *except) {
  for (auto [operand, argument] :
       llvm::zip(step.getOperands(), step.getBody().getArguments())) {
    Value value = scope.rows.lookupOrNull(operand);
    value = value ? value : env.lookupOrNull(operand);
    if (!value && !program.channelOf(operand) && !program.holdOf(operand)) {
      return scope.error("V5: '" + step.getName() +
                         "' reads a value that reaches it without a channel");
    }
    if (value) {
      env.map(argument, readRows(argument.getType(), value));
    }
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (isa<tile::SubtileIdOp>(op) && !subtile &&
        scope.replicas() != program.schedule.getSubtiles()) {
      return scope.error("expected a replica for each of " +
                         Twine(program.schedule.getSubtiles()) +
                         " sub-tiles, of which '" + step.getName() +
                         "' computes one, got " +
                         Twine(scope.role.getReplicas()));
    }
    if (isa<tile::SubtileIdOp>(op)) {
      env.map(op.getResult(0), ownSubtile());
    } else if (auto share = dyn_cast<tile::ShareOp>(op)) {
      env.map(share.getResult(), env.lookup(share.getSource()));
    } else if (&op != except && !isa<tile::PieceOp>(op) && !readsHold(&op)) {
      builder.clone(op, env);
    }
  }
  return success();
}

/// Returns a value that a step reads: a row vector in a slot is read into
/// registers.
Value StepEmitter::readRows(Type type, Value value) {
  auto slot = dyn_cast<ws::SlotType>(value.getType());
  return slot && slot.carriesRows()
             ? ws::ReadRowOp::create(builder, scope.loc(), type, value)
             : value;
}

void StepEmitter::readAhead(Value value) {
  scope.rows.map(value, readRows(value.getType(), env.lookup(value)));
}

/// Returns the hold of the argument `value` of a step, or null.
const sched::Place *StepEmitter::holdOfArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto step = argument
                  ? dyn_cast<tile::StepOp>(argument.getOwner()->getParentOp())
                  : tile::StepOp();
  return step ? program.holdOf(step.getOperand(argument.getArgNumber()))
              : nullptr;
}

/// A tile in a hold is not converted to another register layout.
bool StepEmitter::readsHold(Operation *op) {
  auto convert = dyn_cast<tile::ConvertLayoutOp>(op);
  return convert && holdOfArgument(convert.getSource());
}

/// Returns the tile of `type` in this replica's piece of `hold`, or in all
/// pieces.
Value StepEmitter::emitHeld(const sched::Place &hold, RankedTensorType type,
                            bool isWhole) {
  FlatSymbolRefAttr name = scope.symbol(hold.name);
  auto tile = RankedTensorType::get(type.getShape(), type.getElementType());
  auto slot = ws::SlotType::get(builder.getContext(), name, tile);
  return ws::HeldOp::create(builder, scope.loc(), slot, name,
                            isWhole ? Value() : scope.replica);
}

/// Returns the sub-tile that the entry names, or the replica's own.
Value StepEmitter::ownSubtile() {
  return subtile
             ? arith::ConstantIntOp::create(builder, scope.loc(), *subtile, 32)
             : scope.replica;
}

/// Checks that a step with an asynchronous op has only the result of that op.
LogicalResult StepEmitter::checkPassesOn(tile::StepOp step, Operation *op) {
  Operation *yield = step.getBody().front().getTerminator();
  if (yield->getNumOperands() != 1 ||
      yield->getOperand(0) != op->getResult(0)) {
    return scope.error("expected '" + step.getName() +
                       "' to make the result of its '" +
                       op->getName().getStringRef() + "' alone");
  }
  return success();
}

/// Acquires the slot for `filled`. The plan must have acquired it, or the slot
/// of the first value of its cycle.
FailureOr<Value> StepEmitter::emitAcquire(Value filled) {
  if (program.isWithAnother(filled)) {
    return ws::AcquireOp::create(builder, scope.loc(), scope.slotType(filled))
        .getResult();
  }
  auto *planned = llvm::find_if(acquired, [&](const sched::SlotRef &slot) {
    return scope.valueIn(slot) == filled;
  });
  if (planned == acquired.end()) {
    return scope.error("expected the plan to acquire a slot of '" +
                       program.channelOf(filled)->name +
                       "' before it is filled, got none");
  }
  acquired.erase(planned);
  return ws::AcquireOp::create(builder, scope.loc(), scope.slotType(filled))
      .getResult();
}

LogicalResult StepEmitter::checkDone() {
  if (!acquired.empty()) {
    const sched::Place &place = program.bound().places[acquired.front().place];
    return scope.error("expected a slot of '" + place.name +
                       "' that the plan acquires to be filled, got none that "
                       "is");
  }
  if (!waiting.empty()) {
    return scope.error("expected '" + waiting.front().getName() +
                       "', before which the plan awaits the item's first run, "
                       "to store, got no store");
  }
  return success();
}

/// Whether no two work items load the same tile of K or V.
bool StepEmitter::isReadOnce() {
  tile::KernelOp kernel = program.kernel;
  std::optional<ConfigAttr> config = kernel.getConfig();
  return config &&
         QueryRows{kernel.getArgs(), kernel.getBody().getArgumentTypes(),
                   kernel.getProblem(), *config}
             .areInOneItem();
}

template <typename LoadOp>
LogicalResult StepEmitter::emitLoad(tile::StepOp step, LoadOp load) {
  if (failed(checkPassesOn(step, load))) {
    return failure();
  }
  Value result = step.getResult(0);
  if (!program.channelOf(result)) {
    return scope.error("expected a channel or a place in registers for what '" +
                       step.getName() + "' loads");
  }
  if (failed(cloneBody(step, load))) {
    return failure();
  }
  FailureOr<Value> slot = emitAcquire(result);
  if (failed(slot)) {
    return failure();
  }
  AffineMapAttr map; // null for rows
  if constexpr (std::is_same_v<LoadOp, tile::LoadOp>) {
    map = load.getMapAttr();
  }
  bool isShared = map && program.inLoop(step) && !isReadOnce();
  UnitAttr shared = isShared ? builder.getUnitAttr() : UnitAttr();
  ws::CopyOp::create(
      builder, scope.loc(), env.lookupOrDefault(load.getSource()),
      env.lookupOrDefault(load.getBatch()), env.lookupOrDefault(load.getHead()),
      env.lookupOrDefault(load.getRow()), map, shared, *slot, Value());
  return success();
}

LogicalResult StepEmitter::emitMma(tile::StepOp step, tile::MmaOp mma) {
  if (failed(checkPassesOn(step, mma)) || failed(cloneBody(step, mma))) {
    return failure();
  }
  Value a = mma.getA(), piece;
  if (auto op = a.getDefiningOp<tile::PieceOp>()) {
    a = op.getSource();
    piece = scope.replica;
  }
  Value source = a;
  if (auto convert = a.getDefiningOp<tile::ConvertLayoutOp>()) {
    source = convert.getSource();
  }
  const sched::Place *hold = holdOfArgument(source);
  Value left = hold ? emitHeld(*hold, cast<RankedTensorType>(source.getType()),
                               bool(mma.getTransposeA()))
                    : env.lookupOrNull(a);
  Value b = mma.getB(), columns;
  if (auto op = b.getDefiningOp<tile::PieceOp>()) {
    b = op.getSource();
    columns = scope.replica;
  }
  const sched::Place *shared = holdOfArgument(b);
  Value right = shared ? emitHeld(*shared, cast<RankedTensorType>(b.getType()),
                                  /*isWhole=*/true)
                       : env.lookupOrNull(b);
  if (!left || !right || !isa<ws::SlotType>(right.getType())) {
    return scope.error("V20: expected operand B of '" + step.getName() +
                       "' in a channel");
  }
  Value acc = mma.getAcc() ? env.lookupOrDefault(mma.getAcc()) : Value();
  auto op = ws::MmaOp::create(builder, scope.loc(), step.getResult(0).getType(),
                              ws::TokenType::get(builder.getContext()), left,
                              piece, right, columns, acc, /*fresh=*/Value(),
                              mma.getTransposeAAttr(), mma.getTransposeBAttr());
  env.map(step.getResult(0), op.getResult());
  return success();
}

LogicalResult StepEmitter::emitStore(tile::StepOp step, tile::StoreOp store) {
  const sched::Place *hold = holdOfArgument(store.getTile());
  if (!hold) {
    return scope.error("expected what '" + step.getName() +
                       "' stores in a hold in smem");
  }
  if (failed(cloneBody(step, store))) {
    return failure();
  }
  Value firstRun;
  if (auto *awaits = llvm::find(waiting, step); awaits != waiting.end()) {
    firstRun = env.lookup(program.next->getResult(0));
    waiting.erase(awaits);
  }
  ws::StoreOp::create(builder, scope.loc(), scope.symbol(hold->name),
                      ownSubtile(), env.lookupOrDefault(store.getDest()),
                      env.lookupOrDefault(store.getBatch()),
                      env.lookupOrDefault(store.getHead()),
                      env.lookupOrDefault(store.getRow()), store.getMapAttr(),
                      firstRun);
  return success();
}

/// The replica adds the piece that it has put itself, or one thread each
/// sub-tile's that another role has put.
LogicalResult StepEmitter::emitReduceAdd(tile::StepOp step,
                                         tile::ReduceAddOp add) {
  if (!add.getGrouped()) {
    return scope.error("expected '" + step.getName() +
                       "' to add a tile of a hold to a 'grouped' tensor");
  }
  if (add.getFirst()) {
    return scope.error("V30: expected '" + step.getName() +
                       "', which stores first shares, to add from registers");
  }
  if (failed(cloneBody(step, add))) {
    return failure();
  }
  Value column =
      add.getColumn() ? env.lookupOrDefault(add.getColumn()) : Value();
  ws::ReduceAddOp::create(
      builder, scope.loc(), scope.symbol(holdOfArgument(add.getTile())->name),
      ownSubtile(), env.lookupOrDefault(add.getDest()),
      env.lookupOrDefault(add.getBatch()), env.lookupOrDefault(add.getHead()),
      env.lookupOrDefault(add.getRow()), column, add.getMapAttr(),
      add.getTransposedAttr());
  return success();
}

LogicalResult StepEmitter::emitCompute(tile::StepOp step) {
  if (failed(cloneBody(step, nullptr))) {
    return failure();
  }
  Operation *yield = step.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip(step.getResults(), yield->getOperands())) {
    Value made = env.lookupOrDefault(value);
    if (const sched::Place *hold = program.holdOf(result)) {
      ws::PutOp::create(builder, scope.loc(), made, scope.symbol(hold->name),
                        scope.replica);
    } else {
      env.map(result, made);
    }
    if (isa<tile::WorkType>(result.getType()) && program.workChannel) {
      FailureOr<Value> slot = emitAcquire(result);
      if (failed(slot)) {
        return failure();
      }
      ws::PutWorkOp::create(builder, scope.loc(), made, *slot);
    }
  }
  return success();
}
