// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncIterations.h"

using namespace mlir;
using namespace attn;

void SyncIterations::begin(int item) {
  run.item = item;
  fetches = 0;
  if (item == 0) {
    state = {};
  }
}

LogicalResult SyncIterations::end(ws::WorkLoopOp work) {
  if (!run.isOf(SyncEvent::TakeItem, 0) || fetches == 1) {
    return success();
  }
  return run.error(work) << "V26: expected one 'ws.fetch_work' an iteration of "
                            "the work loop, got "
                         << fetches << ", with an item of "
                         << run.current().from(0) << " blocks";
}

/// If one role reads the verdicts, both runs of an item have one; otherwise
/// only the first.
void SyncIterations::giveVerdict(const SyncEvent &event) {
  if (run.events.objects()[event.object].handedOut) {
    run.add(event, run.item);
  } else if (!run.current().isSecond()) {
    run.add(event, 0);
  }
}

void SyncIterations::chooseItem(const SyncEvent &event) {
  auto take = [&](int64_t number) {
    run.add(event, number);
    return llvm::any_of(
        run.items, [&](const SyncItem &item) { return item.first == number; });
  };
  const SyncItem *next =
      std::find_if(run.items.begin() + run.item, run.items.end(),
                   [](const SyncItem &item) { return !item.isSecond(); });
  ws::KnownScalars now{take};
  state = ws::chooseItem(now, state, int64_t(next - run.items.begin()),
                         next != run.items.end())
              .state;
}

void SyncIterations::secondRun(const SyncEvent &event) {
  if (!run.current().isSecond()) {
    run.add(event, 0);
  }
}
