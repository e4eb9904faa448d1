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
                                 ArrayRef<int> trips,
                                 ArrayRef<SmallVector<int>> skipped,
                                 EmitError emitError) {
  // Without skipped blocks all CTAs of a cluster run the same.
  std::vector<Protocol> ctas;
  auto emitWithTrips = [&] {
    InFlightDiagnostic diagnostic = emitError();
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(trips, stream);
    stream << " iterations";
    if (!skipped.empty()) {
      stream << ", of which the first sub-tile skips ";
      llvm::interleaveComma(skipped.back(), stream);
    }
    diagnostic.attachNote() << "with work items of " << text;
    return diagnostic;
  };
  for (int cta = 0; cta < (skipped.empty() ? 1 : bound.cluster); ++cta) {
    ctas.emplace_back(bound, trips, skipped, cta);
    if (failed(ctas.back().derive(emitWithTrips))) {
      return failure();
    }
  }
  return execute(bound.cluster == 1 ? ctas.front()
                                    : Protocol::joinCluster(ctas),
                 emitWithTrips);
}

/// Sub-tiles that see fewer keys than those below them skip blocks: the most,
/// the fewest and none, in items of several lengths. The mask's edge leaves a
/// block at any of its columns.
static LogicalResult verifySkipped(const BoundSchedule &bound,
                                   EmitError emitError) {
  ConfigAttr config = bound.kernel->config;
  int64_t columns = config.getTileN();
  int64_t rows = config.getTileM() / bound.subtileCount / config.getPackGqa();
  for (ArrayRef<int> trips : tripLists()) {
    bool isMixed = trips.size() == 3 && !llvm::all_equal(trips);
    if (!isMixed && (trips.size() > 1 || trips.front() == 0)) {
      continue;
    }
    SmallVector<SmallVector<int>> skipped;
    for (int later = 1; later < bound.cluster * bound.subtileCount; ++later) {
      auto &ofItems = skipped.emplace_back();
      for (auto [item, trip] : llvm::enumerate(trips)) {
        int most = llvm::divideCeil(later * rows, columns);
        int fewest = later * rows / columns;
        ofItems.push_back(std::min(trip, item == 0   ? most
                                         : item == 1 ? 0
                                                     : fewest));
      }
    }
    if (failed(verifyTrips(bound, trips, skipped, emitError))) {
      return failure();
    }
  }
  return success();
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
  bound->placeWaits();
  for (ArrayRef<int> trips : tripLists()) {
    if (failed(verifyTrips(*bound, trips, {}, emitError))) {
      return failure();
    }
  }
  bool skips = llvm::any_of(bound->instances, [&](const Instance &instance) {
    return bound->skipsBlocks(instance);
  });
  return skips ? verifySkipped(*bound, emitError) : success();
}
