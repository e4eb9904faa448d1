// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for the steps of a kernel and the carried values of its loop.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Returns whether a step computes only the result of an op.
template <typename Op> static bool makesAlone(const KernelStep &step) {
  tile::StepOp op = step.op;
  Operation *yield = op.getBody().front().getTerminator();
  return yield->getNumOperands() == 1 &&
         isa_and_present<Op>(yield->getOperand(0).getDefiningOp());
}

/// Returns whether a step stores a tile directly from a hold in shared memory.
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

/// Returns whether a step sums along the rows of a tile. An op that completes
/// shares counts if the kernel has any shares of such a sum, since they may
/// come from another step.
static bool sumsAlongRows(const Lowerable &lowerable, const KernelStep &step) {
  auto reduces = [](tile::StepOp op, bool partial) {
    return llvm::any_of(
        op.getBody().getOps<tile::ReduceOp>(), [&](tile::ReduceOp reduce) {
          return reduce.getDim() == 0 && reduce.getPartial() == partial;
        });
  };
  return reduces(step.op, /*partial=*/false) ||
         (step.holds<tile::CompleteOp>() &&
          llvm::any_of(lowerable.kernel.steps, [&](const KernelStep &other) {
            return reduces(other.op, /*partial=*/true);
          }));
}

/// Whether a value is a shared tile in a hold.
static bool isShared(const Lowerable &lowerable, int value) {
  if (value < 0 || !lowerable.bound.holdOf(value)) {
    return false;
  }
  const KernelStep *producer = lowerable.kernel.producerOf(value);
  return producer && producer->holds<tile::ShareOp>();
}

static LogicalResult checkStep(const Lowerable &lowerable,
                               const KernelStep &step) {
  auto describe = [&](const char *what) {
    return [&step, what] { return formatv(what, step.name).str(); };
  };
  bool isTransposed = step.isTransposedA() && !isShared(lowerable, step.a) &&
                      !isShared(lowerable, step.b);
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
      failed(lowerable.refuseIf(sumsAlongRows(lowerable, step),
                                Mechanism::CrossedSum,
                                describe("a sum along the rows in '{0}'"))) ||
      failed(
          lowerable.refuseIf(isMixed, Mechanism::MixedStep,
                             describe("more than one op's work in '{0}'"))) ||
      failed(lowerable.refuseIf(isUnplaced, Mechanism::UnplacedLoad,
                                describe("no place for what '{0}' loads"))) ||
      failed(lowerable.refuseIf(
          !storesHold(lowerable, step), Mechanism::StoredElsewhere,
          describe("other than a hold in 'smem' for what '{0}' stores"))));
}

/// Checks that all constant tiles, in steps and outside, have equal elements.
static LogicalResult checkConstants(const Lowerable &lowerable) {
  tile::StepOp step = lowerable.kernel.steps.front().op;
  arith::ConstantOp odd;
  step->getParentOfType<tile::KernelOp>().walk([&](arith::ConstantOp constant) {
    auto elements = dyn_cast<ElementsAttr>(constant.getValue());
    if (elements && !elements.isSplat()) {
      odd = constant;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return lowerable.refuseIf(bool(odd), Mechanism::OddTile, [&] {
    auto step = odd->getParentOfType<tile::StepOp>();
    return "a constant of different elements " +
           (step ? formatv("in '{0}'", step.getName()).str()
                 : std::string("outside steps"));
  });
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

/// Checks that a step of the loop leaves a carried value in registers, if the
/// value is read.
static LogicalResult checkCarried(const Lowerable &lowerable, int index) {
  const KernelModel &kernel = lowerable.kernel;
  const KernelValue &value = kernel.values[index];
  if (value.origin == Origin::Step) {
    return success();
  }
  const KernelValue *next =
      value.yielded < 0 ? nullptr : &kernel.values[value.yielded];
  bool isMade = next && next->origin == Origin::Step &&
                next->region == LoopPosition::Loop;
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
  if (failed(checkConstants(lowerable))) {
    return failure();
  }
  for (int value = 0, e = kernel.values.size(); value < e; ++value) {
    if (failed(checkCarried(lowerable, value))) {
      return failure();
    }
  }
  return success();
}
