// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of a tile.kernel for checking schedules: steps that read and write
// named values, before, in and after one loop.
#ifndef ATTN_PASSES_SCHEDULE_KERNELMODEL_H
#define ATTN_PASSES_SCHEDULE_KERNELMODEL_H

#include "attn/dialect/Tile.h"

namespace attn::sched {

using namespace mlir;
using EmitError = function_ref<InFlightDiagnostic()>;

/// Reports a violation of `rule`.
LogicalResult reject(EmitError emitError, StringRef rule,
                     const llvm::formatv_object_base &message);

/// The unit that runs a step: the copy engine, the tensor core, the store
/// engine (all three asynchronous), or the threads of the role.
enum class Engine { Copy, Mma, Store, Threads };
/// Where a step is run, relative to the loop over blocks.
enum class LoopPosition { Before, Loop, After };
enum class Origin { Step, Carried, Final };

/// Whether tiles belong to a whole CTA, or, where they are cut, to a sub-tile.
enum class Tiles { Whole, Cut };

struct KernelValue {
  Value ir;
  StringRef name;
  SmallVector<StringRef, 2> axes;
  SmallVector<int64_t, 2> shape;
  int64_t elementBytes = 0;
  bool isWork = false;
  Origin origin = Origin::Step;
  LoopPosition region = LoopPosition::Before; // of the step that produces it
  int producer = -1;                          // step; -1: a constant
  int yielded = -1; // the value of a carried or final value in the
                    // previous iteration; -1 for a constant
  int family = -1;  // values updated in place, in one accumulator, share it

  int64_t bytes() const {
    int64_t total = elementBytes;
    for (int64_t size : shape) {
      total *= size;
    }
    return total;
  }
  bool perIteration() const {
    return origin != Origin::Final && region == LoopPosition::Loop;
  }
};

struct KernelStep {
  tile::StepOp op;
  StringRef name;
  Engine engine = Engine::Threads;
  LoopPosition region = LoopPosition::Before;
  SmallVector<int, 4> reads;
  SmallVector<int, 2> writes;
  int a = -1, b = -1, accumulator = -1; // operands of an MMA, where read
  int passedOn = -1; // the operand that is the result without the mask

  bool isMasked() const { return tile::StepOp(op).getMasked(); }
  /// Whether it is a product whose operand A is transposed.
  bool isTransposedA() const {
    auto mmas = tile::StepOp(op).getBody().getOps<tile::MmaOp>();
    return llvm::any_of(
        mmas, [](tile::MmaOp mma) { return bool(mma.getTransposeA()); });
  }
  /// Whether the body contains one of these ops.
  template <typename... Ops> bool holds() const {
    return llvm::any_of(tile::StepOp(op).getBody().front(),
                        [](Operation &inner) { return isa<Ops...>(inner); });
  }
};

/// One value in one iteration of one work item; iteration -1 is outside the
/// loop.
struct ValueInstance {
  int value, item, iteration;
};

class KernelModel {
public:
  static FailureOr<KernelModel> build(tile::KernelOp kernel, ConfigAttr config,
                                      KernelValuesAttr names, Tiles tiles,
                                      EmitError emitError);

  std::vector<KernelValue> values;
  std::vector<KernelStep> steps;
  ConfigAttr config;
  Tiles tiles = Tiles::Whole;
  bool mayReject = false;       // items, which then have a second run
  bool claimsItem = false;      // a CTA, as it begins
  bool claimsFirstItem = false; // a persistent CTA
  bool rangesFollowRows =
      false;            // loops, with fewer blocks for the rows of a sub-tile
  bool runsDown = true; // the loop, from the highest block

  /// Returns the step that computes a value, or null.
  const KernelStep *producerOf(int value) const {
    int producer = values[value].producer;
    return producer < 0 ? nullptr : &steps[producer];
  }
  int findValue(StringRef name) const;
  int findStep(StringRef name) const;

  /// Returns the instance that a read of `value` in (item, iteration) refers
  /// to, if the item's iterations are `first` to `end` - 1; nullopt for an
  /// initial constant.
  std::optional<ValueInstance> resolve(int value, int item, int iteration,
                                       int first, int end) const;

private:
  friend class KernelReader;
  llvm::StringMap<int> valueIndex, stepIndex;
};

} // namespace attn::sched

#endif // ATTN_PASSES_SCHEDULE_KERNELMODEL_H
