// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a schedule: first its text, then its resources, then the protocol for
// a list of trip counts.
#include "../ScheduleModel.h"
#include "Protocol.h"
#include "TrialItems.h"
#include "attn/dialect/AccessMap.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/Execution.h"
#include "attn/passes/schedule/KernelPlan.h"
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

static void describeItems(ArrayRef<int> trips, const SkippedTrips &skipped,
                          Diagnostic &note) {
  note << "with work items of ";
  llvm::interleaveComma(trips, note);
  note << " iterations";
  if (!skipped.right.empty()) {
    note << ", of which the first sub-tile skips ";
    llvm::interleaveComma(skipped.right.back(), note);
  }
  if (!skipped.left.empty()) {
    note << ", and the last one skips at the end ";
    llvm::interleaveComma(skipped.left.back(), note);
  }
}

static LogicalResult verifyTrips(const BoundSchedule &bound,
                                 ArrayRef<int> trips,
                                 const SkippedTrips &skipped,
                                 EmitError emitError) {
  auto emitWithItems = [&] {
    InFlightDiagnostic error = emitError();
    describeItems(trips, skipped, error.attachNote());
    return error;
  };
  // Without skipped blocks all CTAs of a cluster run the same program.
  std::vector<Protocol> ctas;
  bool skips = !skipped.right.empty();
  for (int cta = 0; cta < (skips ? bound.cluster : 1); ++cta) {
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
  int rows = config.getTileM() / bound.subtileCount /
             AccessMap::rowsOfPosition(config.getPackGqa());
  int columns = config.getTileN();
  SmallVector<int> trips;
  SkippedTrips skipped;
  bool skips = false, skipsAtEnd = false;
  for (const TrialItem &item : items) {
    trips.push_back(item.trips);
    skipsAtEnd |= item.skipAtEnd != TrialItem::None;
    skips |= skipsAtEnd || item.skip != TrialItem::None;
  }
  int subtiles = skips ? bound.cluster * bound.subtileCount : 1;
  for (int others = 1; others < subtiles; ++others) {
    auto &right = skipped.right.emplace_back();
    for (const TrialItem &item : items) {
      int count = countSkipped(item.skip, others, rows, columns);
      right.push_back(std::min(item.trips, count));
    }
    if (!skipsAtEnd) {
      continue;
    }
    auto &left = skipped.left.emplace_back();
    for (const TrialItem &item : items) {
      left.push_back(countSkipped(item.skipAtEnd, others, rows, columns));
    }
  }
  return verifyTrips(bound, trips, skipped, emitError);
}

LogicalResult attn::verifySchedule(tile::KernelOp kernel, ConfigAttr config,
                                   ScheduleAttr schedule, EmitError emitError,
                                   ResourcePlan *resources,
                                   JudgeOptions options) {
  if (config.getCtaGroup() != 1) {
    return reject(
        emitError, "V25",
        formatv("expected 'cta_group' to be 1, got {0}: CTA pairs are "
                "not judged",
                config.getCtaGroup()));
  }
  auto checkResources = [&](const BoundSchedule &bound) -> LogicalResult {
    FailureOr<ResourcePlan> found = sched::checkResources(bound, emitError);
    if (succeeded(found) && resources) {
      *resources = *found;
    }
    return found;
  };
  auto plan = KernelPlan::build(kernel, config, schedule, Tiles::Whole,
                                emitError, checkResources);
  if (failed(plan)) {
    return failure();
  }
  const BoundSchedule *bound = &(*plan)->bound;
  bool skips = llvm::any_of(bound->instances, [&](const Instance &instance) {
    return bound->skipsBlocks(instance);
  });
  Skip skip = skips ? schedule.getSkip() : Skip::None;
  for (const TrialItems &items : itemsToTry(skip, options.exhaustive)) {
    if (failed(verifyItems(*bound, items, emitError))) {
      return failure();
    }
  }
  return options.lowering ? checkLowering(*bound, emitError) : success();
}
