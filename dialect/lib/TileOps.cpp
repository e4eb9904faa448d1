// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and folds of the tile dialect; labels are those of TileOps.td.
#include "TileVerifiers.h"
#include "attn/dialect/Tile.h"

using namespace mlir;
using attn::ArgumentAccess;
using namespace attn::tile;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Structure.
//===----------------------------------------------------------------------===//

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether an op has no effects and no tiles, so that every role can repeat it.
static bool isPureScalar(Operation *op) {
  return isMemoryEffectFree(op) &&
         llvm::none_of(op->getResultTypes(),
                       [](Type type) { return isa<ShapedType>(type); });
}

/// C4 of tile.kernel.
static LogicalResult verifyAccessOf(KernelOp kernel, Operation *op) {
  auto check = [&](Value tensor, ArgumentAccess access) {
    return attn::verifyArgumentUse(op, tensor, access, kernel.getArgs(),
                                   kernel.getBody().front());
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, LoadRowOp, GatherOp>(
          [&](auto op) { return check(op.getSource(), ArgumentAccess::Read); })
      .Case([&](ScatterOp op) {
        return check(op.getDest(), op.getAdd() ? ArgumentAccess::Accumulate
                                               : ArgumentAccess::Write);
      })
      .Case<StoreOp, StoreRowOp, StoreRegOp>(
          [&](auto op) { return check(op.getDest(), ArgumentAccess::Write); })
      .Case([&](ReduceAddOp op) {
        return check(op.getDest(), op.getFirst() ? ArgumentAccess::Write
                                                 : ArgumentAccess::Accumulate);
      })
      .Case<TurnWaitOp, TurnPassOp>([&](auto op) {
        return check(op.getTurns(), ArgumentAccess::Accumulate);
      })
      .Default(success());
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(attn::verifyArguments(*this, getArgs(), getProblem(),
                                   getBody().front()))) { // C1
    return failure();
  }
  unsigned works = 0;
  for (Operation &op : getBody().getOps()) { // C2
    works += isa<WorkOp>(op);
    if (!isa<WorkOp>(op) && !isConstant(&op) && !isPureScalar(&op)) {
      return op.emitOpError("expected only pure scalar ops and constants "
                            "beside 'tile.work' in 'tile.kernel'");
    }
  }
  if (works != 1) {
    return emitOpError("expected one 'tile.work', got ") << works;
  }
  llvm::DenseMap<StringAttr, StepOp> steps; // C3
  auto result = walk([&](Operation *op) {
    auto step = dyn_cast<StepOp>(op);
    if (!step) {
      return failed(verifyAccessOf(*this, op)) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    }
    auto [at, isNew] = steps.try_emplace(step.getNameAttr(), step);
    if (isNew) {
      return WalkResult::advance();
    }
    auto error = step.emitOpError("expected step names to be different, got @")
                 << step.getName() << " twice";
    error.attachNote(at->second.getLoc()) << "the other step";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult WorkOp::verify() {
  if (!isa_and_present<KernelOp>((*this)->getParentOp())) {
    return emitOpError("expected to be in a 'tile.kernel'");
  }
  return success();
}

/// Checks that the terminator yields `types`.
static LogicalResult verifyYield(Operation *op, Block &block, TypeRange types) {
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield) {
    return op->emitOpError("expected the body to end with 'tile.yield'");
  }
  if (yield.getValues().getTypes() != types) {
    return yield.emitOpError("expected to yield (")
           << types << "), got (" << yield.getValues().getTypes() << ")";
  }
  return success();
}

/// C3 of tile.step: the values from outside that a body may use.
static bool isUsableInside(Value value) {
  if (!isa<ShapedType, WorkType>(value.getType())) {
    return true;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return isa<KernelOp>(argument.getOwner()->getParentOp());
  }
  return isConstant(value.getDefiningOp());
}

static LogicalResult verifyCaptures(StepOp step) {
  Region &body = step.getBody();
  auto result = step.walk([&](Operation *op) {
    if (op == step) {
      return WalkResult::advance();
    }
    for (auto [number, value] : llvm::enumerate(op->getOperands())) {
      if (!body.isAncestor(value.getParentRegion()) && !isUsableInside(value)) {
        op->emitOpError("expected operand #")
            << number << " of type " << value.getType()
            << " to come through an operand of step @" << step.getName();
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult StepOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getOperandTypes()) { // C1
    return emitOpError("expected block arguments (")
           << getOperandTypes() << "), got (" << block.getArgumentTypes()
           << ")";
  }
  if (failed(verifyYield(*this, block, getResultTypes())) || // C2
      failed(verifyCaptures(*this))) {                       // C3
    return failure();
  }
  auto scheduled = [](Operation &op) {
    return isa<LoadOp, LoadRowOp, StoreOp, StoreRowOp, StoreRegOp, ScatterOp,
               ReduceAddOp, TurnWaitOp, TurnPassOp, MmaOp>(op);
  };
  auto count = llvm::count_if(block, scheduled); // C4
  if (count > 1) {
    return emitOpError("expected at most one load, store or mma in a step, "
                       "got ")
           << count;
  }
  if (getMasked() && (getNumResults() != 1 || getNumOperands() == 0 ||
                      getOperand(0).getType() != getResult(0).getType())) {
    return emitOpError(
               "expected a masked step to have one result, of the " // C5
               "type of its first operand, got (")
           << getOperandTypes() << ") and (" << getResultTypes() << ")";
  }
  return success();
}

LogicalResult attn::tile::verifyOnceAnItem(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    if (isa<LoopLikeOpInterface, ForOp>(parent)) {
      return op->emitOpError("expected to be in no loop but the one over work "
                             "items, got '")
             << parent->getName() << "'";
    }
  }
  return success();
}

LogicalResult RejectOp::verify() {
  return verifyOnceAnItem(*this); // C1
}

/// C2 of tile.bounds, also in its loops over rows.
static LogicalResult verifyOpsOfBounds(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      for (Region *region : loop.getLoopRegions()) {
        if (failed(verifyOpsOfBounds(region->front()))) {
          return failure();
        }
      }
      continue;
    }
    auto gather = dyn_cast<GatherOp>(op);
    bool isElement = gather && gather.getType().isIntOrFloat();
    if (!isConstant(&op) && !isPureScalar(&op) && !isElement) {
      return op.emitOpError("expected only pure scalar ops, constants and "
                            "elements of captures in 'tile.bounds'");
    }
  }
  return success();
}

LogicalResult BoundsOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(getWork().getType())) { // C1
    return emitOpError("expected one block argument, of type ")
           << getWork().getType() << ", got (" << block.getArgumentTypes()
           << ")";
  }
  if (getSubtile() ? !getOf() || *getOf() < 1 : getOf().has_value()) { // C3
    return emitOpError("expected 'subtile' with an 'of' of at least 1, got ")
           << (getSubtile() ? "a sub-tile of " : "none of ")
           << getOf().value_or(0);
  }
  if (failed(verifyYield(*this, block, getResultTypes()))) {
    return failure();
  }
  return verifyOpsOfBounds(block);
}

int64_t BoundsOp::countOwnedRows(ConfigAttr config) {
  return getSubtile() ? config.getTileM() / static_cast<int64_t>(*getOf())
                      : config.getTileM() * config.getCluster();
}

/// Checks that results of `tile.bounds` are used in order. A skipped range
/// begins with the first bound of all rows, and the loop then ends with their
/// last.
static LogicalResult verifyOrder(Operation *op, RangesAttr ranges,
                                 ValueRange bounds) {
  size_t outer = ranges[0].getKind() == RangeKind::Skipped ? 1 : 0;
  BoundsOp sources[2];
  for (auto [number, bound] : llvm::enumerate(bounds)) {
    auto source = bound.getDefiningOp<BoundsOp>();
    if (!source) {
      continue;
    }
    bool isLast = number + outer == bounds.size();
    bool isOuter = number < outer || isLast;
    size_t expected =
        isLast ? source->getNumResults() - 1 : number - (isOuter ? 0 : outer);
    size_t got = cast<OpResult>(bound).getResultNumber();
    if (got != expected) {
      return op->emitOpError("expected bound ")
             << number << " to be result " << expected
             << " of its 'tile.bounds', got result " << got;
    }
    BoundsOp &known = sources[isOuter];
    known = known ? known : source;
    if (known != source) {
      return op->emitOpError("expected the bounds of ")
             << (isOuter ? "all rows" : "its ranges")
             << " to be of one 'tile.bounds', got bound " << number
             << " of another";
    }
  }
  return success();
}

LogicalResult attn::tile::verifyRanges(Operation *op, RangesAttr ranges,
                                       ValueRange bounds) {
  if (bounds.size() != ranges.size() + 1) {
    return op->emitOpError("expected ")
           << ranges.size() + 1 << " bounds for " << ranges.size()
           << " ranges, got " << bounds.size();
  }
  for (Value bound : bounds) {
    auto source = bound.getDefiningOp<BoundsOp>();
    if (source && source.getUp() == ranges.isDown()) {
      return op->emitOpError("expected the direction of 'tile.bounds', got '")
             << stringifyDirection(ranges.getDirection()) << "'";
    }
  }
  return verifyOrder(op, ranges, bounds);
}

/// C1 and C4 of tile.for.
static LogicalResult verifyRanges(ForOp op) {
  for (RangeAttr range : op.getRanges().getList()) {
    if (range.getKind() == RangeKind::Skipped) {
      return op.emitOpError(
          "expected masked and full ranges, got a skipped one");
    }
  }
  return attn::tile::verifyRanges(op, op.getRanges(), op.getBounds());
}

LogicalResult ForOp::verifyRegions() {
  if (failed(::verifyRanges(*this))) {
    return failure();
  }
  Block &block = getBody().front();
  SmallVector<Type> arguments = {IntegerType::get(getContext(), 32)};
  llvm::append_range(arguments, getInits().getTypes());
  if (block.getArgumentTypes() != TypeRange(arguments)) { // C2
    return emitOpError("expected block arguments (")
           << TypeRange(arguments) << "), got (" << block.getArgumentTypes()
           << ")";
  }
  if (failed(verifyYield(*this, block, getResultTypes()))) {
    return failure();
  }
  for (Operation &op : block.without_terminator()) { // C3
    if (!isa<StepOp>(op) && !isConstant(&op) && !isPureScalar(&op)) {
      return op.emitOpError("expected only steps, pure scalar ops and "
                            "constants in 'tile.for'");
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Gathers.
//===----------------------------------------------------------------------===//

Type attn::tile::gatheredType(Type element) {
  if (element.isF16() || element.isBF16()) {
    return Float32Type::get(element.getContext());
  }
  return element.isUnsignedInteger()
             ? IntegerType::get(element.getContext(),
                                element.getIntOrFloatBitWidth())
             : element;
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = tensorOf(getSource());
  if (static_cast<int64_t>(getIndices().size()) != source.getRank()) { // C1
    return emitOpError("expected ")
           << source.getRank() << " indices for 'source', got "
           << getIndices().size();
  }
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  Type element = gatheredType(source.getElementType());
  if (getElementTypeOrSelf(getResult()) != element) { // C3
    return emitOpError("expected the result to have element type ")
           << element << ", got " << getResult().getType() << " of " << source;
  }
  for (auto [number, index] : llvm::enumerate(getIndices())) { // C2
    auto tile = dyn_cast<RankedTensorType>(index.getType());
    if (tile && (!result || tile.getShape() != result.getShape())) {
      return emitOpError("expected index #")
             << number << " to have the result's shape, got " << tile << " for "
             << getResult().getType();
    }
  }
  return success();
}

LogicalResult ScatterOp::verify() {
  RankedTensorType dest = tensorOf(getDest());
  if (static_cast<int64_t>(getIndices().size()) != dest.getRank()) { // C1
    return emitOpError("expected ")
           << dest.getRank() << " indices for 'dest', got "
           << getIndices().size();
  }
  Type element = dest.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16()) { // C3
    return emitOpError(
               "expected 'dest' to have elements f32, f16 or bf16, got ")
           << dest;
  }
  if (getAdd() && !element.isF32()) { // C5
    return emitOpError("expected 'dest' to have elements f32 with 'add', got ")
           << dest;
  }
  auto tile = dyn_cast<RankedTensorType>(getTile().getType());
  for (auto [number, index] : llvm::enumerate(getIndices())) { // C2
    auto type = dyn_cast<RankedTensorType>(index.getType());
    if (type && tile && type.getShape() != tile.getShape()) {
      return emitOpError("expected index #")
             << number << " to have the tile's shape, got " << type << " for "
             << tile;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tile arithmetic.
//===----------------------------------------------------------------------===//

LogicalResult MmaOp::verify() {
  RankedTensorType a = tensorOf(getA()), b = tensorOf(getB()),
                   result = tensorOf(getResult());
  unsigned rows = getTransposeA() ? 1 : 0, columns = getTransposeB() ? 0 : 1;
  if (a.getDimSize(1 - rows) != b.getDimSize(1 - columns)) { // C1
    return emitOpError("expected 'a' and 'b' to agree in the contracted "
                       "dimension, got ")
           << a << (getTransposeA() ? " transposed" : "") << " and " << b
           << (getTransposeB() ? " transposed" : "");
  }
  SmallVector<int64_t> shape = {a.getDimSize(rows), b.getDimSize(columns)};
  if (result.getShape() != ArrayRef<int64_t>(shape)) { // C2
    return emitOpError("expected the result to be ")
           << shape[0] << "x" << shape[1] << "xf32, got " << result;
  }
  return success();
}

LogicalResult ShareOp::verify() {
  RankedTensorType source = tensorOf(getSource()),
                   whole = tensorOf(getResult());
  if (source.getDimSize(1) == whole.getDimSize(1) && // C1
      source.getDimSize(0) > 0 &&
      whole.getDimSize(0) % source.getDimSize(0) == 0) {
    return success();
  }
  return emitOpError("expected a tile of the source's columns and a multiple "
                     "of its rows, got ")
         << source << " and " << whole;
}

RankedTensorType attn::tile::pieceTypeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto step = value.getDefiningOp<StepOp>();
  if (!step) {
    return type;
  }
  unsigned number = cast<OpResult>(value).getResultNumber();
  auto share = step.getBody()
                   .front()
                   .getTerminator()
                   ->getOperand(number)
                   .getDefiningOp<ShareOp>();
  return share ? cast<RankedTensorType>(share.getSource().getType()) : type;
}

/// Checks that `row` is `tile` without dimension `dim`.
static LogicalResult verifyRow(Operation *op, RankedTensorType tile,
                               RankedTensorType row, int64_t dim) {
  if (row.getDimSize(0) != tile.getDimSize(1 - dim)) {
    return op->emitOpError("expected the vector to be ")
           << tile << " without dimension " << dim << ", got " << row;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getPartial() && getKind() != ReduceKind::Add) { // C2
    return emitOpError("expected only 'add' to be partial, got '")
           << stringifyReduceKind(getKind()) << "'";
  }
  return verifyRow(*this, tensorOf(getSource()), tensorOf(getResult()), // C1
                   getDim());
}

LogicalResult BroadcastOp::verify() {
  return verifyRow(*this, tensorOf(getResult()), tensorOf(getSource()),
                   getDim());
}

LogicalResult CoordsOp::verify() {
  RankedTensorType type = tensorOf(getResult());
  if (getDim() >= static_cast<uint64_t>(type.getRank())) {
    return emitOpError("expected a tile that has dimension ")
           << getDim() << ", got " << type;
  }
  return success();
}

LogicalResult KeepOp::verify() {
  RankedTensorType pairs = tensorOf(getQueries()), kept = tensorOf(getResult());
  if (pairs.getRank() != 2) { // C1
    return emitOpError("expected positions of rank 2, got ") << pairs;
  }
  if (kept != pairs.clone(kept.getElementType())) { // C2
    return emitOpError("expected a result of ")
           << pairs.clone(kept.getElementType()) << ", got " << kept;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Folds.
//===----------------------------------------------------------------------===//

/// Returns the constant's element if all are the same, otherwise null.
static Attribute splatOf(Attribute constant) {
  auto elements = dyn_cast_if_present<SplatElementsAttr>(constant);
  return elements ? elements.getSplatValue<Attribute>() : Attribute();
}

static OpFoldResult foldSplat(Attribute constant, Type type) {
  Attribute splat = splatOf(constant);
  auto tile = cast<RankedTensorType>(type);
  // A layout decides where elements are: only constants without one may be
  // folded.
  if (!splat || !tile.hasStaticShape() || tile.getEncoding()) {
    return {};
  }
  return DenseElementsAttr::get(tile, splat);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  return foldSplat(adaptor.getSource(), getType());
}

OpFoldResult PieceOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType()) {
    return getSource();
  }
  return foldSplat(adaptor.getSource(), getType());
}

OpFoldResult AnyOp::fold(FoldAdaptor adaptor) {
  return splatOf(adaptor.getSource());
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
