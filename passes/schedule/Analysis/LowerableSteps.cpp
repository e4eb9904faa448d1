// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 of the steps of a kernel, wherever they run, and of the shapes of
// their tiles.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Returns whether a step makes the result of an op and nothing else.
template <typename Op> static bool makesAlone(const KernelStep &step) {
  tile::StepOp op = step.op;
  Operation *yield = op.getBody().front().getTerminator();
  return yield->getNumOperands() == 1 &&
         isa_and_present<Op>(yield->getOperand(0).getDefiningOp());
}

/// Returns whether a step stores a tile as it lies in a hold in shared memory.
static bool storesHold(const Lowerable &lowerable, const KernelStep &step) {
  tile::StepOp op = step.op;
  for (auto store : op.getBody().getOps<tile::StoreOp>()) {
    auto argument = dyn_cast<BlockArgument>(store.getTile());
    Value tile = argument ? op.getOperand(argument.getArgNumber()) : Value();
    return llvm::any_of(step.reads, [&](int value) {
      return lowerable.kernel.values[value].ir == tile &&
             lowerable.bound.holdOf(value);
    });
  }
  return true;
}

static LogicalResult checkStep(const Lowerable &lowerable,
                               const KernelStep &step) {
  auto describe = [&](StringRef what) {
    return [&step, what] { return formatv(what.data(), step.name).str(); };
  };
  tile::StepOp op = step.op;
  bool isTransposed =
      llvm::any_of(op.getBody().getOps<tile::MmaOp>(),
                   [](tile::MmaOp mma) { return bool(mma.getTransposeA()); });
  bool isLoad = step.holds<tile::LoadOp>();
  bool isUnplaced =
      isLoad && llvm::none_of(lowerable.bound.places, [&](const Place &place) {
        return place.carries(step.writes.front());
      });
  bool isCopy = isLoad && lowerable.bound.channelOf(step.writes.front());
  bool isMixed = (isCopy && !makesAlone<tile::LoadOp>(step)) ||
                 (step.engine == Engine::Mma &&
                  (!makesAlone<tile::MmaOp>(step) || step.b < 0)) ||
                 (step.holds<tile::StoreOp>() && !step.writes.empty());
  return failure(
      failed(
          lowerable.refuseIf(isTransposed, Mechanism::TransposedA,
                             describe("the transposed operand A of '{0}'"))) ||
      failed(
          lowerable.refuseIf(isMixed, Mechanism::MixedStep,
                             describe("more than one op's work in '{0}'"))) ||
      failed(lowerable.refuseIf(isUnplaced, Mechanism::UnplacedLoad,
                                describe("no place for what '{0}' loads"))) ||
      failed(lowerable.refuseIf(
          !storesHold(lowerable, step), Mechanism::StoredElsewhere,
          describe("other than a hold in 'smem' for what '{0}' stores"))));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Returns the shape of a value's sub-tile.
static SmallVector<int64_t, 2> shapeOf(const Lowerable &lowerable, int index) {
  const KernelValue &value = lowerable.kernel.values[index];
  SmallVector<int64_t, 2> shape = value.shape;
  for (auto [axis, size] : llvm::zip(value.axes, shape)) {
    bool isCut = lowerable.kernel.tiles == Tiles::Whole &&
                 axis == lowerable.bound.axisOf(index);
    size /= isCut ? lowerable.bound.subtileCount : 1;
  }
  return shape;
}

/// Returns whether the machine computes on tiles like a value, or moves them.
static bool fits(const Lowerable &lowerable, TileInfoAttr tiles, int index) {
  SmallVector<int64_t, 2> shape = shapeOf(lowerable, index);
  if (shape.empty()) {
    return true;
  }
  bool isTile = shape.size() == 2;
  if (isTile && lowerable.isInSmem(index)) {
    return shape[0] % tiles.getColumns() == 0 &&
           shape[0] <= tiles.getCopied() && shape[1] % tiles.getDepth() == 0;
  }
  bool isRows = isTile || !lowerable.bound.axisOf(index).empty();
  return shape.size() <= 2 &&
         (isRows ? shape[0] == tiles.getRows()
                 : shape[0] % tiles.getColumns() == 0) &&
         (!isTile || shape[1] % tiles.getColumns() == 0);
}

static LogicalResult checkShapes(const Lowerable &lowerable) {
  TileInfoAttr tiles = lowerable.bound.machine.getTiles();
  const KernelModel &kernel = lowerable.kernel;
  auto refuse = [&](bool says, int index, StringRef what) {
    return lowerable.refuseIf(says, Mechanism::OddTile, [&] {
      std::string shape;
      llvm::raw_string_ostream stream(shape);
      llvm::interleave(shapeOf(lowerable, index), stream, " x ");
      return formatv("{0} of {1} elements '{2}'", what, shape,
                     kernel.values[index].name)
          .str();
    });
  };
  for (int i = 0, e = tiles ? kernel.values.size() : 0; i < e; ++i) {
    if (failed(refuse(!fits(lowerable, tiles, i), i, "the tile"))) {
      return failure();
    }
  }
  for (const KernelStep &step : kernel.steps) {
    bool isRead = tiles && step.a >= 0 && !lowerable.isInSmem(step.a);
    const KernelValue *a = isRead ? &kernel.values[step.a] : nullptr;
    bool isOdd =
        a && (a->elementBytes != 2 || a->shape.back() % tiles.getDepth() != 0);
    if (failed(refuse(isOdd, step.a, "operand A in registers"))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

/// Checks that a step of the loop leaves a carried value in registers, if
/// anything reads it.
static LogicalResult checkCarried(const Lowerable &lowerable, int index) {
  const KernelModel &kernel = lowerable.kernel;
  const KernelValue &value = kernel.values[index];
  if (value.origin == Origin::Step) {
    return success();
  }
  const KernelValue *next =
      value.yielded < 0 ? nullptr : &kernel.values[value.yielded];
  bool isMade =
      next && next->origin == Origin::Step && next->region == Section::Loop;
  bool isRead = llvm::any_of(kernel.steps, [&](const KernelStep &step) {
    return llvm::is_contained(step.reads, index);
  });
  bool isElsewhere = isMade ? lowerable.isInSmem(value.yielded) : isRead;
  return lowerable.refuseIf(isElsewhere, Mechanism::CarriedElsewhere, [&] {
    return formatv("'{0}', which no step of the loop leaves in registers",
                   value.name)
        .str();
  });
}

LogicalResult sched::checkLowerableSteps(const Lowerable &lowerable) {
  const KernelModel &kernel = lowerable.kernel;
  bool isStatic = kernel.config.getWork() == WorkKind::Static;
  if (failed(lowerable.refuseIf(kernel.mayReject && isStatic,
                                Mechanism::RejectedStatic, [] {
                                  return "work 'static' of items that may be "
                                         "rejected";
                                }))) {
    return failure();
  }
  for (const KernelStep &step : kernel.steps) {
    if (failed(checkStep(lowerable, step))) {
      return failure();
    }
  }
  for (int value = 0, e = kernel.values.size(); value < e; ++value) {
    if (failed(checkCarried(lowerable, value))) {
      return failure();
    }
  }
  return checkShapes(lowerable);
}
