// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges a schedule: text first, then resources, then the protocol for a list
// of trip counts.
#include "Protocol.h"
#include "TrialItems.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/Execution.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

static void describeItems(ArrayRef<int> trips,
                          ArrayRef<SmallVector<int>> skipped,
                          Diagnostic &note) {
  note << "with work items of ";
  llvm::interleaveComma(trips, note);
  note << " iterations";
  if (!skipped.empty()) {
    note << ", of which the first sub-tile skips ";
    llvm::interleaveComma(skipped.back(), note);
  }
}

static LogicalResult verifyTrips(const BoundSchedule &bound,
                                 ArrayRef<int> trips,
                                 ArrayRef<SmallVector<int>> skipped,
                                 EmitError emitError) {
  auto emitWithItems = [&] {
    InFlightDiagnostic error = emitError();
    describeItems(trips, skipped, error.attachNote());
    return error;
  };
  // Without skipped blocks all CTAs of a cluster run the same.
  std::vector<Protocol> ctas;
  for (int cta = 0; cta < (skipped.empty() ? 1 : bound.cluster); ++cta) {
    ctas.emplace_back(bound, trips, skipped, cta);
    if (failed(ctas.back().derive(emitWithItems))) {
      return failure();
    }
  }
  return execute(bound.cluster == 1 ? ctas.front()
                                    : Protocol::joinCluster(ctas),
                 emitWithItems);
}

static LogicalResult verifyItems(const BoundSchedule &bound,
                                 ArrayRef<TrialItem> items,
                                 EmitError emitError) {
  ConfigAttr config = bound.kernel->config;
  int rows = config.getTileM() / bound.subtileCount / config.getPackGqa();
  SmallVector<int> trips;
  SmallVector<SmallVector<int>> skipped;
  bool skips = false;
  for (const TrialItem &item : items) {
    trips.push_back(item.trips);
    skips |= item.skip != TrialItem::None;
  }
  int subtiles = skips ? bound.cluster * bound.subtileCount : 1;
  for (int later = 1; later < subtiles; ++later) {
    auto &ofItems = skipped.emplace_back();
    for (const TrialItem &item : items) {
      ofItems.push_back(countSkipped(item, later, rows, config.getTileN()));
    }
  }
  return verifyTrips(bound, trips, skipped, emitError);
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
                                   ScheduleStatistics *statistics,
                                   bool exhaustive) {
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
  if (failed(bound->connect(emitError))) {
    return failure();
  }
  bound->planRoles();
  if (failed(bound->checkSkippedBlocks(emitError))) {
    return failure();
  }
  bool skips = llvm::any_of(bound->instances, [&](const Instance &instance) {
    return bound->skipsBlocks(instance);
  });
  for (const TrialItems &items : itemsToTry(skips, exhaustive)) {
    if (failed(verifyItems(*bound, items, emitError))) {
      return failure();
    }
  }
  return success();
}
