// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V27: what a role does with the blocks that it leaves to other sub-tiles.
// It waits for their slots and gives them back, block by block, and passes its
// turns on.
#include "BoundSchedule.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class SkippedBlocks {
public:
  SkippedBlocks(const BoundSchedule &bound, const Instance &instance,
                EmitError emitError)
      : bound(bound), instance(instance), emitError(emitError) {}

  LogicalResult check() {
    for (const Entry &entry : instance.kv) {
      if (entry.act == Act::Get) {
        waited.insert(entry.target);
      }
    }
    for (const Entry &entry : instance.kv) {
      if (entry.guard == Guard::Always && failed(checkEntry(entry))) {
        return failure();
      }
    }
    return success();
  }

private:
  LogicalResult refuse(const std::string &what) {
    return reject(emitError, "V27",
                  formatv("expected nothing but products, turns and what "
                          "threads compute in the loop of role '{0}', which "
                          "skips blocks, got {1}",
                          instance.name, what));
  }

  LogicalResult checkEntry(const Entry &entry) {
    // Turns are the edges after the schedule's own.
    bool isEdge = entry.act == Act::Sig || entry.act == Act::Wait;
    if (isEdge && entry.target < int(bound.schedule.getEdges().size())) {
      return refuse(formatv("{0}({1})", stringifyAct(entry.act),
                            bound.edges[entry.target].name));
    }
    if (entry.act == Act::Sync) {
      return refuse(formatv("sync({0})", bound.rendezvous[entry.target].name));
    }
    if (entry.act == Act::Get) {
      return checkWait(entry.target, entry.shift);
    }
    if (entry.act != Act::Op) {
      return success();
    }
    const KernelStep &step = bound.kernel->steps[entry.target];
    if (step.engine == Engine::Copy) {
      return refuse(formatv("'{0}'", step.name));
    }
    for (int value : step.reads) {
      bool isFirst = waited.insert(value).second;
      if (isFirst && failed(checkWait(value, entry.shift))) {
        return failure();
      }
    }
    return success();
  }

  /// The slots of a ring come in the order of blocks.
  LogicalResult checkWait(int value, int shift) {
    const Place *ring = bound.channelOf(value);
    if (!ring || !bound.kernel->values[value].perIteration()) {
      return success();
    }
    int first = shifts.try_emplace(ring, shift).first->second;
    if (first == shift) {
      return success();
    }
    return reject(emitError, "V27",
                  formatv("expected one shift of the waits for '{0}' in the "
                          "loop of role '{1}', which skips blocks, got {2} and "
                          "{3}",
                          ring->name, instance.name, first, shift));
  }

  const BoundSchedule &bound;
  const Instance &instance;
  EmitError emitError;
  llvm::SmallDenseSet<int> waited; // values; first those that a `get` waits for
  llvm::SmallDenseMap<const Place *, int> shifts;
};

} // namespace

LogicalResult BoundSchedule::checkSkippedBlocks(EmitError emitError) const {
  if (schedule.getSkip() == Skip::None || subtileCount == 1) {
    return success();
  }
  for (const Instance &instance : instances) {
    bool skips = instance.replica >= 0;
    if (skips && failed(SkippedBlocks(*this, instance, emitError).check())) {
      return failure();
    }
  }
  return success();
}
