// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for the shapes of tiles, which `tiles` in the machine's file limits.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

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

/// Returns whether the machine can compute on or move tiles of a value's shape.
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
  bool isRows =
      isTile || llvm::is_contained(lowerable.kernel.values[index].axes,
                                   lowerable.bound.axisOf(index));
  return shape.size() <= 2 &&
         (isRows ? shape[0] == tiles.getRows()
                 : shape[0] % tiles.getColumns() == 0) &&
         (!isTile || shape[1] % tiles.getColumns() == 0);
}

LogicalResult sched::checkLowerableShapes(const Lowerable &lowerable) {
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
