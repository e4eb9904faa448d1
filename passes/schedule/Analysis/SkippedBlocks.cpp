// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V27: the blocks that a role leaves to other sub-tiles. The role waits
// for their slots and releases them, block by block, and passes its turns on.
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class SkippedBlocks {
public:
  SkippedBlocks(const BoundSchedule &bound, int index, EmitError emitError)
      : bound(bound), role(bound.instances[index].name),
        timeStep(bound.plans[index].timeStep), emitError(emitError) {}

  LogicalResult check() {
    for (const PlannedAct &act : timeStep) {
      if (act.guard == Guard::Always && failed(checkAct(act))) {
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
                          role, what));
  }

  LogicalResult checkAct(const PlannedAct &act) {
    switch (act.kind) {
    case PlannedAct::Signal:
    case PlannedAct::Commit:
    case PlannedAct::WaitEdge:
      // Turns come after the schedule's own edges.
      return act.target < int(bound.schedule.getEdges().size())
                 ? refuse(formatv("{0}({1})", stringifyAct(act.entry->act),
                                  bound.edges[act.target].name))
                 : success();
    case PlannedAct::Meet:
      return refuse(formatv("sync({0})", bound.rendezvous[act.target].name));
    case PlannedAct::Wait:
      return checkWait(act);
    case PlannedAct::Run: {
      const KernelStep &step = bound.kernel->steps[act.target];
      return step.engine == Engine::Copy ? refuse(formatv("'{0}'", step.name))
                                         : success();
    }
    default:
      return success();
    }
  }

  /// The slots of a ring are in the order of the blocks.
  LogicalResult checkWait(const PlannedAct &act) {
    int first = shifts.try_emplace(act.slot.place, act.shift).first->second;
    if (first == act.shift) {
      return success();
    }
    return reject(emitError, "V27",
                  formatv("expected one shift of the waits for '{0}' in the "
                          "loop of role '{1}', which skips blocks, got {2} and "
                          "{3}",
                          bound.places[act.slot.place].name, role, first,
                          act.shift));
  }

  const BoundSchedule &bound;
  StringRef role;
  const PlannedActs &timeStep;
  EmitError emitError;
  llvm::SmallDenseMap<int, int> shifts; // by place
};

} // namespace

LogicalResult sched::checkSkippedBlocks(const BoundSchedule &bound,
                                        EmitError emitError) {
  ScheduleAttr schedule = bound.schedule;
  if (schedule.getSkip() == Skip::None || bound.subtileCount == 1) {
    return success();
  }
  if (!bound.kernel->runsDown) {
    return reject(emitError, "V27",
                  formatv("expected a loop that runs downward with 'skip {0}', "
                          "whose blocks are skipped first, got one that runs "
                          "upward",
                          stringifySkip(schedule.getSkip())));
  }
  for (auto [index, instance] : llvm::enumerate(bound.instances)) {
    bool skips = instance.replica >= 0;
    if (skips && failed(SkippedBlocks(bound, index, emitError).check())) {
      return failure();
    }
  }
  return success();
}
