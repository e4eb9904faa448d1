// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-resolve-layouts: gives every register tile a layout: that of an
// accumulator, of an operand A, or of a vector of one.
#include "VectorDims.h"
#include "attn/dialect/Chip.h"
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/support/Decision.h"

namespace attn {
#define GEN_PASS_DEF_RESOLVELAYOUTS
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using attn::tile::LayoutAttr;

namespace {

bool isTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getRank() > 0;
}

class Resolver {
public:
  Resolver(tile::KernelOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip), vectors(kernel) {}

  LogicalResult run() {
    if (failed(vectors.check())) {
      return failure();
    }
    markLoaded();
    // The kernel's own arguments are in memory.
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      for (Region &region : op->getRegions()) {
        for (Block &block : region) {
          for (Value argument : block.getArguments()) {
            if (failed(assign(argument))) {
              return WalkResult::interrupt();
            }
          }
        }
      }
      for (Value value : op->getResults()) {
        if (failed(assign(value))) {
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    return result.wasInterrupted() ? failure() : convertOperandsA();
  }

  /// Checks the postcondition: every register tile has a layout.
  LogicalResult check() {
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      for (Value value : op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        if (type && isTile(type) && !loaded.contains(value) &&
            !isa_and_present<LayoutAttr>(type.getEncoding())) {
          op->emitOpError("attn-resolve-layouts: expected a layout, got ")
              << type;
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
  size_t getConversions() const { return conversions; }

private:
  /// Whether an op in a step reads the value other than as an operand of an
  /// MMA.
  static bool isComputedWith(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      auto step = dyn_cast<tile::StepOp>(use.getOwner());
      return step &&
             llvm::any_of(
                 step.getBody().getArgument(use.getOperandNumber()).getUsers(),
                 [](Operation *user) {
                   return !isa<tile::MmaOp, tile::PieceOp>(user);
                 });
    });
  }

  /// Marks the loaded tiles that have no register layout because only MMAs read
  /// them. All others are loaded into registers.
  void markLoaded() {
    kernel.walk([&](tile::ShareOp share) {
      auto step = share->getParentOfType<tile::StepOp>();
      loaded.insert(share.getResult());
      loaded.insert(step.result_begin(), step.result_end());
    });
    kernel.walk([&](tile::StepOp step) {
      bool loads = !step.getBody().getOps<tile::LoadOp>().empty() &&
                   llvm::none_of(step.getResults(), isComputedWith);
      if (loads) {
        loaded.insert(step.getResults().begin(), step.getResults().end());
      }
      step.walk([&](Operation *op) {
        if ((loads && isa<tile::LoadOp>(op)) || isa<tile::PieceOp>(op)) {
          loaded.insert(op->getResult(0));
        }
      });
    });
    kernel.walk([&](tile::StepOp step) {
      for (auto [operand, argument] :
           llvm::zip(step.getOperands(), step.getBody().getArguments())) {
        if (loaded.contains(operand)) {
          loaded.insert(argument);
        }
      }
    });
  }

  /// Converts register A operands of MMAs where they are read.
  LogicalResult convertOperandsA() {
    SmallVector<tile::MmaOp> mmas;
    kernel.walk([&](tile::MmaOp mma) { mmas.push_back(mma); });
    for (tile::MmaOp mma : mmas) {
      auto type = cast<RankedTensorType>(mma.getA().getType());
      if (!isa_and_present<LayoutAttr>(type.getEncoding())) {
        continue; // a loaded tile
      }
      auto error = [&] {
        return mma.emitOpError("attn-resolve-layouts: no conversion of ");
      };
      FailureOr<LayoutAttr> wanted = chip.operandLayout(type, error);
      if (failed(wanted)) {
        return failure();
      }
      OpBuilder builder(mma);
      auto converted = RankedTensorType::get(type.getShape(),
                                             type.getElementType(), *wanted);
      mma.getAMutable().assign(tile::ConvertLayoutOp::create(
          builder, mma.getLoc(), converted, mma.getA()));
      ++conversions;
    }
    return success();
  }

  FailureOr<LayoutAttr> layoutOf(Value value, RankedTensorType type) {
    auto error = [&] {
      InFlightDiagnostic diagnostic =
          emitError(value.getLoc(), "attn-resolve-layouts: no layout for ")
          << type << ": ";
      return diagnostic;
    };
    if (type.getRank() > 2) {
      return error() << "expected at most 2 dimensions, got " << type.getRank();
    }
    return type.getRank() == 1
               ? chip.vectorLayout(type, vectors.of(value), error)
               : chip.accumulatorLayout(type, error);
  }

  LogicalResult assign(Value value) {
    if (!isTile(value.getType()) || loaded.contains(value)) {
      return success();
    }
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getEncoding()) {
      return success();
    }
    FailureOr<LayoutAttr> layout = layoutOf(value, type);
    if (failed(layout)) {
      return failure();
    }
    auto laidOut =
        RankedTensorType::get(type.getShape(), type.getElementType(), *layout);
    value.setType(laidOut);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (!splat) {
        return constant.emitOpError(
            "attn-resolve-layouts: expected a splat constant");
      }
      constant.setValueAttr(splat.resizeSplat(laidOut));
    }
    return success();
  }

  tile::KernelOp kernel;
  const Chip &chip;
  VectorDims vectors;
  DenseSet<Value> loaded;
  size_t conversions = 0;
};

/// Returns the chip of the kernel's schedule; null, with an error, if it is
/// unknown.
const Chip *chipOf(tile::KernelOp kernel) {
  std::optional<ScheduleAttr> schedule = kernel.getSchedule();
  if (!schedule) {
    kernel.emitOpError("attn-resolve-layouts: expected a schedule, got none");
    return nullptr;
  }
  auto emitError = [&] { return kernel.emitOpError("attn-resolve-layouts: "); };
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), schedule->getMachine(), emitError);
  if (failed(machine)) {
    return nullptr;
  }
  const Chip *chip = findChip(kernel.getContext(), machine->getChipName());
  if (!chip) {
    emitError() << "no lowering for machine '"
                << schedule->getMachine().getValue() << "'";
  }
  return chip;
}

class ResolveLayoutsPass
    : public attn::impl::ResolveLayoutsBase<ResolveLayoutsPass> {
public:
  using ResolveLayoutsBase::ResolveLayoutsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      const Chip *chip = chipOf(kernel);
      if (!chip) {
        return signalPassFailure();
      }
      Resolver resolver(kernel, *chip);
      if (failed(resolver.run()) || failed(resolver.check())) {
        return signalPassFailure();
      }
      decided(kernel.getLoc(), "resolve-layouts")
          << llvm::formatv("{0} register operands converted",
                           resolver.getConversions())
                 .str();
    }
  }
};

} // namespace
