// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges a schedule: text first, then resources, then the protocol for a list
// of trip counts.
#include "../Execution/Execution.h"
#include "Protocol.h"
#include "attn/passes/DataTables.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Iterations of each work item of one CTA: every count up to 3 alone, every
/// pair of them in a row, and longer mixtures.
static const SmallVector<SmallVector<int>> &tripLists() {
  static const SmallVector<SmallVector<int>> lists = [] {
    SmallVector<SmallVector<int>> lists;
    for (int a = 0; a < 4; ++a) {
      lists.push_back({a});
    }
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        lists.push_back({a, b});
      }
    }
    for (SmallVector<int> list :
         std::initializer_list<SmallVector<int>>{{0, 0, 0},
                                                 {1, 1, 1},
                                                 {2, 2, 2},
                                                 {3, 3, 3},
                                                 {3, 0, 2},
                                                 {1, 3, 2},
                                                 {2, 1, 0},
                                                 {0, 3, 1},
                                                 {3, 2, 1},
                                                 {1, 2, 3},
                                                 {5, 4, 6},
                                                 {7, 1, 5}}) {
      lists.push_back(list);
    }
    return lists;
  }();
  return lists;
}

static LogicalResult verifyTrips(const BoundSchedule &bound,
                                 ArrayRef<int> trips, EmitError emitError) {
  auto emitWithTrips = [&] {
    InFlightDiagnostic diagnostic = emitError();
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(trips, stream);
    diagnostic.attachNote() << "with work items of " << text << " iterations";
    return diagnostic;
  };
  Protocol protocol(bound, trips);
  if (failed(protocol.derive(emitWithTrips))) {
    return failure();
  }
  return execute(bound.cluster == 1 ? protocol : protocol.spreadOverCluster(),
                 emitWithTrips);
}

/// A counter gives an item to whoever asks: only one role may ask.
static LogicalResult verifyWork(const BoundSchedule &bound, ConfigAttr config,
                                EmitError emitError) {
  if (config.getWork() != WorkKind::Dynamic) {
    return success();
  }
  for (auto [index, step] : llvm::enumerate(bound.kernel->steps)) {
    bool makesWork = llvm::any_of(step.writes, [&](int value) {
      return bound.kernel->values[value].isWork;
    });
    if (makesWork && bound.remat[index]) {
      return reject(emitError, "V26",
                    formatv("expected one role to run '{0}', whose items work "
                            "'dynamic' hands out, got 'remat {0}'",
                            step.name));
    }
  }
  return success();
}

LogicalResult attn::verifySchedule(tile::KernelOp kernel, ConfigAttr config,
                                   ScheduleAttr schedule, EmitError emitError,
                                   ScheduleStatistics *statistics) {
  if (config.getCtaGroup() != 1) {
    return reject(
        emitError, "V25",
        formatv("expected 'cta_group' to be 1, got {0}: CTA pairs are "
                "not judged",
                config.getCtaGroup()));
  }
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), schedule.getMachine(), emitError);
  if (failed(machine)) {
    return failure();
  }
  auto emitKernelError = [&] { return kernel.emitOpError(); };
  FailureOr<KernelValuesAttr> names =
      lookupKernelValues(kernel, emitKernelError);
  if (failed(names)) {
    return failure();
  }
  FailureOr<KernelModel> model =
      KernelModel::build(kernel, config, *names, emitKernelError);
  if (failed(model)) {
    return failure();
  }
  FailureOr<BoundSchedule> bound = BoundSchedule::bind(
      *model, *machine, schedule, config.getCluster(), emitError);
  ScheduleStatistics found;
  if (failed(bound) || failed(verifyWork(*bound, config, emitError)) ||
      failed(bound->checkResources(found, emitError))) {
    return failure();
  }
  if (statistics) {
    *statistics = found;
  }
  if (failed(bound->connect(emitError)) ||
      failed(bound->checkSkippedBlocks(emitError))) {
    return failure();
  }
  for (ArrayRef<int> trips : tripLists()) {
    if (failed(verifyTrips(*bound, trips, emitError))) {
      return failure();
    }
  }
  return success();
}
