// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The turns of the loop over work items: where the item of each comes from, and
// the verdicts on them.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCTURNS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCTURNS_H

#include "SyncRun.h"
#include "attn/dialect/ItemChoice.h"

namespace attn {

class SyncTurns {
public:
  explicit SyncTurns(SyncRun &run) : run(run) {}

  void begin(int item);
  /// Rule V26: the counter of work items is right again after a launch, and
  /// every item has its turn, if one question follows each.
  mlir::LogicalResult end(ws::WorkLoopOp work);

  void fetch() { ++fetches; }
  void giveVerdict(const SyncEvent &event);
  /// Takes the verdicts that `ws.choose_item` takes in this turn.
  void chooseItem(const SyncEvent &event);
  void secondRun(const SyncEvent &event);

private:
  SyncRun &run;
  int64_t fetches = 0; // in this turn
  /// Of the role that hands items out.
  ws::HandOutState<int64_t> state;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCTURNS_H
