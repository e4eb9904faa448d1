// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V26: which role computes the work items. A counter gives an item to each
// role that asks, so only one role may ask; it hands the item out through a
// channel, at the beginning of each iteration of the work loop. Other kinds of
// work derive the items from the number of the CTA, and every role computes its
// own.
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Checks that the role that hands items out does so before any other act.
static LogicalResult checkFirst(const BoundSchedule &bound, int step,
                                EmitError emitError) {
  for (const Instance &instance : bound.instances) {
    if (!instance.runs[step]) {
      continue;
    }
    const Entry *first =
        instance.before.empty() ? nullptr : &instance.before.front();
    if (!first || first->act != Act::Op || first->target != step ||
        first->guard != Guard::Always || first->shift != 0) {
      return reject(emitError, "V26",
                    formatv("expected '{0}' to be the first entry of 'before' "
                            "in role '{1}', without guard and shift, got it "
                            "elsewhere",
                            bound.kernel->steps[step].name, instance.name));
    }
  }
  return success();
}

/// Checks that no body lists the step with which each role computes its item:
/// it runs at the beginning of an item, and would run twice.
static LogicalResult checkUnlisted(const BoundSchedule &bound, int step,
                                   EmitError emitError) {
  auto isStep = [&](const Entry &entry) {
    return entry.act == Act::Op && entry.target == step;
  };
  for (const Instance &instance : bound.instances) {
    for (ArrayRef<Entry> entries :
         {ArrayRef(instance.before), ArrayRef(instance.kv),
          ArrayRef(instance.after)}) {
      if (llvm::any_of(entries, isStep)) {
        StringRef name = bound.kernel->steps[step].name;
        return reject(emitError, "V26",
                      formatv("expected 'remat {0}' alone to run '{0}', got it "
                              "in the body of role '{1}' too",
                              name, instance.name));
      }
    }
  }
  return success();
}

LogicalResult sched::checkWork(const BoundSchedule &bound,
                               EmitError emitError) {
  const KernelModel &kernel = *bound.kernel;
  WorkKind work = kernel.config.getWork();
  bool handsOut = work == WorkKind::Dynamic;
  for (auto [index, step] : llvm::enumerate(kernel.steps)) {
    auto item = llvm::find_if(
        step.writes, [&](int value) { return kernel.values[value].isWork; });
    if (item == step.writes.end() && bound.remat[index]) {
      return reject(emitError, "V26",
                    formatv("expected 'remat' of the step that makes the work "
                            "item, got '{0}'",
                            step.name));
    }
    if (item == step.writes.end()) {
      continue;
    }
    if (handsOut == bound.remat[index]) {
      return reject(
          emitError, "V26",
          formatv("expected {0} to run '{1}', whose items work '{2}' {3}, got "
                  "{4}'remat {1}'",
                  handsOut ? "one role" : "every role", step.name,
                  stringifyWorkKind(work),
                  handsOut ? "hands out" : "does not hand out",
                  handsOut ? "" : "no "));
    }
    if (handsOut != bool(bound.channelOf(*item))) {
      return reject(emitError, "V26",
                    formatv("expected {0} of '{1}', whose items work '{2}' "
                            "{3}, got {4}",
                            handsOut ? "a channel" : "no channel",
                            kernel.values[*item].name, stringifyWorkKind(work),
                            handsOut ? "hands out" : "does not hand out",
                            handsOut ? "none" : "one"));
    }
    if (failed(handsOut ? checkFirst(bound, index, emitError)
                        : checkUnlisted(bound, index, emitError))) {
      return failure();
    }
  }
  return success();
}
