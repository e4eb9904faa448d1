// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-subtile: cuts the owned rows of a kernel into the sub-tiles of its
// schedule, so that the program becomes that of one sub-tile.
#include "VectorDims.h"
#include "attn/passes/middle/Passes.h"
#include "attn/support/Decision.h"

namespace attn {
#define GEN_PASS_DEF_SUBTILE
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Cuts one kernel. A step is cut if it computes on registers: loads fill whole
/// tiles, of which each sub-tile reads its piece.
class Cutter {
public:
  explicit Cutter(tile::KernelOp kernel)
      : kernel(kernel), schedule(*kernel.getSchedule()),
        rows(kernel.getConfig()->getTileM()),
        pieceRows(rows / schedule.getSubtiles()) {
    findVectorsOfColumns();
    findCutAcross();
  }

  LogicalResult run();
  /// Checks the postcondition: register tiles have the rows of a sub-tile.
  LogicalResult check();

private:
  void findVectorsOfColumns();
  LogicalResult checkVectors();
  LogicalResult cutLoop(tile::ForOp loop);
  LogicalResult checkCut(Operation *op, ValueRange values);
  /// Finds the products that read all rows of a tile that is cut, so that a
  /// sub-tile computes only some of their own rows or columns, and the values
  /// that hold such results.
  void findCutAcross();
  LogicalResult cutAcrossRows(tile::StepOp step);
  RankedTensorType shareOf(RankedTensorType type, bool ofRows) const;
  bool isCut(tile::StepOp step) const {
    return step.walk([](Operation *op) {
                 return isa<tile::LoadOp, tile::NextWorkOp>(op)
                            ? WalkResult::interrupt()
                            : WalkResult::advance();
               })
               .wasInterrupted() == false;
  }
  LogicalResult cutType(Value value);
  LogicalResult cutStep(tile::StepOp step);
  LogicalResult cutBody(tile::StepOp step);
  void addPieceOffset(Operation *op, OpOperand &offset, Value subtile);

  tile::KernelOp kernel;
  ScheduleAttr schedule;
  int64_t rows, pieceRows;
  /// Vectors with an element for each column, which are the same for all
  /// sub-tiles.
  llvm::DenseSet<Value> ofColumns;
  /// Products of all rows, of which a sub-tile computes some rows or columns,
  /// and the steps that compute or read them.
  llvm::DenseSet<Value> cutAcross;
  llvm::DenseSet<Operation *> stepsAcross;
  /// Those of them that have some rows of a product whose A is loaded.
  llvm::DenseSet<Operation *> rowsAcross;
};

/// Whether a result of a step is a tile in shared memory, with the rows of all
/// sub-tiles.
static bool isShared(Value result) {
  auto step = result.getDefiningOp<tile::StepOp>();
  unsigned number = step ? cast<OpResult>(result).getResultNumber() : 0;
  return step && isa_and_present<tile::ShareOp>(step.getBody()
                                                    .front()
                                                    .getTerminator()
                                                    ->getOperand(number)
                                                    .getDefiningOp());
}

LogicalResult Cutter::cutType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() == 0 ||
      ofColumns.contains(value)) {
    return success();
  }
  if (type.getDimSize(0) == pieceRows) {
    return success();
  }
  if (type.getDimSize(0) != rows) {
    return emitError(value.getLoc(), "attn-subtile: expected a tile of ")
           << rows << " rows, got " << type;
  }
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = pieceRows;
  auto cut =
      RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  value.setType(cut);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat) {
      return constant.emitOpError("attn-subtile: expected a splat constant");
    }
    constant.setValueAttr(splat.resizeSplat(cut));
  }
  return success();
}

void Cutter::findCutAcross() {
  kernel.walk([&](tile::StepOp step) {
    for (auto mma : step.getBody().getOps<tile::MmaOp>()) {
      if (mma.getTransposeA()) {
        cutAcross.insert(step.result_begin(), step.result_end());
        stepsAcross.insert(step);
        // Of a loaded A, a sub-tile has only some columns.
        auto argument = dyn_cast<BlockArgument>(mma.getA());
        if (argument && !isShared(step.getOperand(argument.getArgNumber()))) {
          rowsAcross.insert(step);
        }
      }
    }
  });
  kernel.walk([&](tile::StepOp step) {
    if (llvm::any_of(step.getOperands(), [&](Value operand) {
          return cutAcross.contains(operand);
        })) {
      stepsAcross.insert(step);
      cutAcross.insert(step.result_begin(), step.result_end());
      for (Value operand : step.getOperands()) {
        if (rowsAcross.contains(operand.getDefiningOp())) {
          rowsAcross.insert(step);
        }
      }
    }
  });
}

/// Returns a tile's type with a share of its rows or columns.
RankedTensorType Cutter::shareOf(RankedTensorType type, bool ofRows) const {
  SmallVector<int64_t> shape(type.getShape());
  shape[ofRows ? 0 : 1] /= schedule.getSubtiles();
  return type.clone(shape);
}

/// Cuts a product to some of its columns, or to some of its rows, which are
/// columns of A. Moves the op that adds them to memory to their rows or
/// columns.
LogicalResult Cutter::cutAcrossRows(tile::StepOp step) {
  auto axes = schedule.getSplit().getAlsoAxes();
  bool ofRows =
      rowsAcross.contains(step) || llvm::any_of(axes, [](StringAttr axis) {
        return axis.getValue() == "N";
      });
  auto cut = [&](Value value) {
    value.setType(shareOf(cast<RankedTensorType>(value.getType()), ofRows));
  };
  for (auto [operand, argument] :
       llvm::zip(step.getOperands(), step.getBody().getArguments())) {
    if (cutAcross.contains(operand)) {
      cut(argument);
    }
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
  Value subtile = tile::SubtileIdOp::create(builder, step.getLoc());
  for (Operation &op : step.getBody().front()) {
    builder.setInsertionPoint(&op);
    if (auto mma = dyn_cast<tile::MmaOp>(op);
        mma && !mma.getTransposeB() && !mma.getAcc()) {
      OpOperand &operand = ofRows ? mma.getAMutable() : mma.getBMutable();
      auto whole = cast<RankedTensorType>(operand.get().getType());
      operand.set(tile::PieceOp::create(
          builder, op.getLoc(), shareOf(whole, /*ofRows=*/false), operand.get(),
          subtile, builder.getUnitAttr()));
      cut(mma.getResult());
    } else if (auto add = dyn_cast<tile::ReduceAddOp>(op);
               add && !add.getColumn()) {
      auto type = cast<RankedTensorType>(add.getTile().getType());
      Value size = arith::ConstantIntOp::create(
          builder, op.getLoc(), type.getDimSize(ofRows ? 0 : 1), 32);
      Value first = arith::MulIOp::create(builder, op.getLoc(), subtile, size);
      if (ofRows && !add.getTransposed()) {
        add.getRowMutable().assign(
            arith::AddIOp::create(builder, op.getLoc(), add.getRow(), first));
      } else {
        add.getColumnMutable().assign(first);
      }
    } else if (!isa<tile::YieldOp>(op) &&
               llvm::any_of(op.getOperandTypes(),
                            llvm::IsaPred<RankedTensorType>) &&
               !isa<tile::PieceOp>(op)) {
      return op.emitOpError("attn-subtile: no lowering on a share of a product "
                            "of all rows");
    }
  }
  for (Value result : step.getResults()) {
    cut(result);
  }
  return success();
}

/// The rows of a sub-tile start `subtile * pieceRows` rows later.
void Cutter::addPieceOffset(Operation *op, OpOperand &offset, Value subtile) {
  OpBuilder builder(op);
  Value size =
      arith::ConstantIntOp::create(builder, op->getLoc(), pieceRows, 32);
  Value shift = arith::MulIOp::create(builder, op->getLoc(), subtile, size);
  offset.set(arith::AddIOp::create(builder, op->getLoc(), offset.get(), shift));
}

/// Returns the operand for the first row that an op reads or writes in memory,
/// or null.
static OpOperand *rowOf(Operation *op) {
  return TypeSwitch<Operation *, OpOperand *>(op)
      .Case<tile::StoreOp, tile::StoreRowOp, tile::StoreRegOp,
            tile::ReduceAddOp, tile::LoadRowOp>(
          [](auto access) { return &access.getRowMutable(); })
      .Default(nullptr);
}

LogicalResult Cutter::cutBody(tile::StepOp step) {
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
  Value subtile;
  auto getSubtile = [&]() {
    if (!subtile) {
      subtile = tile::SubtileIdOp::create(builder, step.getLoc());
    }
    return subtile;
  };
  SmallVector<Operation *> ops;
  step.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto coords = dyn_cast<tile::CoordsOp>(op);
        coords && coords.getDim() == 0) {
      addPieceOffset(op, coords.getOffsetMutable(), getSubtile());
    } else if (OpOperand *row = rowOf(op);
               row && !llvm::any_of(op->getResults(), [&](Value result) {
                 return ofColumns.contains(result);
               })) {
      addPieceOffset(op, *row, getSubtile());
    } else if (auto mma = dyn_cast<tile::MmaOp>(op)) {
      // A whole tile from a load: this sub-tile reads its own rows.
      auto type = cast<RankedTensorType>(mma.getA().getType());
      if (type.getDimSize(0) == rows) {
        OpBuilder here(op);
        auto piece = RankedTensorType::get({pieceRows, type.getDimSize(1)},
                                           type.getElementType());
        mma.getAMutable().assign(tile::PieceOp::create(
            here, op->getLoc(), piece, mma.getA(), getSubtile(), UnitAttr()));
      }
    }
    if (isa<tile::ShareOp>(op)) {
      continue; // the rows of all sub-tiles
    }
    for (Value result : op->getResults()) {
      if (failed(cutType(result))) {
        return failure();
      }
    }
    for (Region &region : op->getRegions()) {
      for (Value argument : region.getArguments()) {
        if (failed(cutType(argument))) {
          return failure();
        }
      }
    }
  }
  return success();
}

LogicalResult Cutter::cutStep(tile::StepOp step) {
  if (stepsAcross.contains(step)) {
    return cutAcrossRows(step);
  }
  // B of an MMA is along the streamed axis and is not cut; neither is a loaded
  // A, which is read by piece.
  SmallPtrSet<Value, 4> uncut;
  step.walk([&](tile::MmaOp mma) { uncut.insert(mma.getB()); });
  for (auto [operand, argument] :
       llvm::zip(step.getOperands(), step.getBody().getArguments())) {
    auto producer = operand.getDefiningOp<tile::StepOp>();
    bool loaded = producer && !isCut(producer);
    if (loaded || uncut.contains(argument)) {
      continue;
    }
    if (failed(cutType(argument))) {
      return failure();
    }
  }
  if (failed(cutBody(step))) {
    return failure();
  }
  for (Value result : step.getResults()) {
    if (!isShared(result) && failed(cutType(result))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Cutter::run() {
  if (schedule.getSplit().getAxis().getValue() != "M") {
    return kernel.emitOpError("attn-subtile: expected the split axis to be "
                              "'M', got '")
           << schedule.getSplit().getAxis().getValue() << "'";
  }
  if (rows % schedule.getSubtiles() != 0) {
    return kernel.emitOpError("attn-subtile: expected ")
           << schedule.getSubtiles() << " sub-tiles to divide tile_m, got "
           << rows;
  }
  if (failed(checkVectors())) {
    return failure();
  }
  auto work = *kernel.getBody().getOps<tile::WorkOp>().begin();
  for (Operation &op : work.getBody().front()) {
    auto loop = dyn_cast<tile::ForOp>(op);
    auto step = dyn_cast<tile::StepOp>(op);
    if ((loop && failed(cutLoop(loop))) ||
        (step && isCut(step) && failed(cutStep(step)))) {
      return failure();
    }
  }
  return success();
}

/// A sub-tile has only its own share of a sum over rows.
LogicalResult Cutter::checkVectors() {
  WalkResult result = kernel.walk([&](tile::ReduceOp reduce) {
    if (ofColumns.contains(reduce.getResult())) {
      reduce.emitOpError("attn-subtile: no lowering for a vector without rows "
                         "where rows are cut, ")
          << reduce.getResult().getType();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Cutter::findVectorsOfColumns() {
  VectorDims dims(kernel);
  auto note = [&](ValueRange values) {
    for (Value value : values) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (type && type.hasStaticShape() && type.getRank() == 1 &&
          dims.of(value) == 0) {
        ofColumns.insert(value);
      }
    }
  };
  kernel.walk([&](Operation *op) {
    note(op->getResults());
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        note(block.getArguments());
      }
    }
  });
}

LogicalResult Cutter::cutLoop(tile::ForOp loop) {
  auto cutTypes = [&](auto values) {
    return success(llvm::all_of(
        values, [&](Value value) { return succeeded(cutType(value)); }));
  };
  if (failed(cutTypes(loop.getInits())) ||
      failed(cutTypes(loop.getBody().getArguments().drop_front()))) {
    return failure();
  }
  for (auto step : loop.getBody().getOps<tile::StepOp>()) {
    if (isCut(step) && failed(cutStep(step))) {
      return failure();
    }
  }
  return cutTypes(loop.getResults());
}

LogicalResult Cutter::checkCut(Operation *op, ValueRange values) {
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.hasStaticShape() && type.getRank() > 0 &&
        type.getDimSize(0) != pieceRows && !ofColumns.contains(value) &&
        !isShared(value) && !isa_and_present<tile::ShareOp>(op)) {
      return op->emitOpError("attn-subtile: expected tiles of ")
             << pieceRows << " rows after the cut, got " << type;
    }
  }
  return success();
}

LogicalResult Cutter::check() {
  WalkResult result = kernel.walk([&](Operation *op) {
    auto step = dyn_cast<tile::StepOp>(op);
    auto parent = op->getParentOfType<tile::StepOp>();
    bool computes = parent && isCut(parent) && !isa<tile::PieceOp>(op);
    computes &= !stepsAcross.contains(parent);
    bool isAcross = step && stepsAcross.contains(step);
    bool cut =
        (step && isCut(step) && !isAcross) || isa<tile::ForOp>(op) || computes;
    return cut && failed(checkCut(op, op->getResults()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether a kernel has been cut before.
bool isCut(tile::KernelOp kernel) {
  return kernel.walk([](tile::SubtileIdOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

class SubtilePass : public attn::impl::SubtileBase<SubtilePass> {
public:
  using SubtileBase::SubtileBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      if (!kernel.getSchedule() || !kernel.getConfig()) {
        kernel.emitOpError("attn-subtile: expected a config and a schedule, "
                           "got no ")
            << (kernel.getConfig() ? "schedule" : "config");
        return signalPassFailure();
      }
      if (kernel.getSchedule()->getSubtiles() == 1 || isCut(kernel)) {
        continue;
      }
      Cutter cutter(kernel);
      if (failed(cutter.run()) || failed(cutter.check())) {
        return signalPassFailure();
      }
      decided(kernel.getLoc(), "subtile")
          << llvm::formatv("{0} sub-tiles of {1} rows",
                           kernel.getSchedule()->getSubtiles(),
                           kernel.getConfig()->getTileM() /
                               kernel.getSchedule()->getSubtiles())
                 .str();
    }
  }
};

} // namespace
