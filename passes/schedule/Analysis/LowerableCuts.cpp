// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for sub-tiles: the rows that a CTA owns are cut wherever threads or
// MMAs compute on them, and loaded tiles stay whole.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Whether a value is a product of rows that are cut, read down their columns:
/// each sub-tile reads all of these rows and makes some rows or columns of it.
static bool isProductAcross(const Lowerable &lowerable, int index) {
  const KernelStep *producer = lowerable.kernel.producerOf(index);
  const KernelValue &value = lowerable.kernel.values[index];
  return producer && producer->engine == Engine::Mma &&
         producer->isTransposedA() &&
         llvm::is_contained(value.axes, lowerable.bound.axisOf(index));
}

/// Whether a value is such a product, or one passed on by a step.
static bool isCutAcross(const Lowerable &lowerable, int index) {
  const KernelStep *producer = lowerable.kernel.producerOf(index);
  bool passesOn = producer && producer->engine == Engine::Threads &&
                  producer->reads.size() == 1 &&
                  llvm::is_contained(lowerable.kernel.values[index].axes,
                                     lowerable.bound.axisOf(index));
  return isProductAcross(lowerable, passesOn ? producer->reads.front() : index);
}

/// The axis of the rows that a CTA owns.
static constexpr StringLiteral ownedRows = "M";

static LogicalResult checkValue(const Lowerable &lowerable, int index) {
  const BoundSchedule &bound = lowerable.bound;
  const KernelValue &value = lowerable.kernel.values[index];
  const KernelStep *producer = lowerable.kernel.producerOf(index);
  bool isLoaded =
      producer && value.origin == Origin::Step &&
      (producer->holds<tile::LoadOp>() ||
       (producer->holds<tile::LoadRowOp>() && bound.channelOf(index)));
  StringRef axis = bound.axisOf(index);
  // Each sub-tile has a copy of a vector of columns.
  bool isVector = value.axes.size() == 1;
  bool isOdd =
      !axis.empty() && (isLoaded || (!isVector && value.axes.front() != axis &&
                                     !isCutAcross(lowerable, index)));
  bool isWhole = axis.empty() && !isLoaded && !value.axes.empty();
  return failure(
      failed(lowerable.refuseIf(
          isOdd, Mechanism::OddCut,
          [&] {
            return formatv("sub-tiles of '{0}', which {1}", value.name,
                           isLoaded ? "is loaded" : "are not of its rows")
                .str();
          })) ||
      failed(lowerable.refuseIf(isWhole, Mechanism::OddCut, [&] {
        return formatv("'{0}' whole, which is computed", value.name).str();
      })));
}

/// Checks that a step that reads sub-tiles is cut itself, and computes only on
/// rows that are cut.
static LogicalResult checkStep(const Lowerable &lowerable, int index) {
  const BoundSchedule &bound = lowerable.bound;
  const KernelModel &kernel = lowerable.kernel;
  const KernelStep &step = kernel.steps[index];
  if (step.holds<tile::LoadOp>()) {
    return success();
  }
  if (llvm::any_of(step.writes,
                   [&](int value) { return isCutAcross(lowerable, value); })) {
    return success();
  }
  bool isOdd =
      bound.stepAxis(index).empty() && llvm::any_of(step.reads, [&](int value) {
        return !bound.axisOf(value).empty();
      });
  int64_t rows = kernel.config.getTileM();
  tile::StepOp op = step.op;
  // Each sub-tile has a copy of a vector of columns.
  auto isOfColumns = [&](RankedTensorType tile) {
    SmallVector<int> values(step.reads.begin(), step.reads.end());
    llvm::append_range(values, step.writes);
    return tile.getRank() == 1 && llvm::any_of(values, [&](int number) {
             const KernelValue &value = kernel.values[number];
             return value.axes.size() == 1 && value.axes[0] != ownedRows &&
                    value.shape[0] == tile.getDimSize(0);
           });
  };
  // After attn-subtile the tiles are already cut.
  isOdd |= kernel.tiles == Tiles::Whole &&
           op.getBody()
               .walk([&](Operation *inner) {
                 for (Type type : inner->getResultTypes()) {
                   auto tile = dyn_cast<RankedTensorType>(type);
                   if (tile && tile.hasStaticShape() && tile.getRank() > 0 &&
                       tile.getDimSize(0) != rows && !isOfColumns(tile)) {
                     return WalkResult::interrupt();
                   }
                 }
                 return WalkResult::advance();
               })
               .wasInterrupted();
  return lowerable.refuseIf(isOdd, Mechanism::OddCut, [&] {
    return formatv("'{0}', which computes on other than a sub-tile's rows",
                   step.name)
        .str();
  });
}

LogicalResult sched::checkLowerableCuts(const Lowerable &lowerable) {
  SplitAttr split = lowerable.bound.schedule.getSplit();
  if (!split || lowerable.bound.subtileCount == 1) {
    return success();
  }
  StringRef axis = split.getAxis().getValue();
  if (failed(lowerable.refuseIf(axis != ownedRows, Mechanism::OddCut, [&] {
        return formatv("sub-tiles along axis '{0}'", axis).str();
      }))) {
    return failure();
  }
  for (int i = 0, e = lowerable.kernel.values.size(); i < e; ++i) {
    if (failed(checkValue(lowerable, i))) {
      return failure();
    }
  }
  for (int i = 0, e = lowerable.kernel.steps.size(); i < e; ++i) {
    if (failed(checkStep(lowerable, i))) {
      return failure();
    }
  }
  return success();
}
