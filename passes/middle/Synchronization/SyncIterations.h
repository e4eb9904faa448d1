// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iterations of the work loop: where their items come from, and the
// verdicts on them.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCITERATIONS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCITERATIONS_H

#include "SyncRun.h"
#include "attn/dialect/ItemChoice.h"

namespace attn {

class SyncIterations {
public:
  explicit SyncIterations(SyncRun &run) : run(run) {}

  void begin(int item);
  /// Rule V26: the counter of work items is reset after a launch, and every
  /// item is run, if each iteration asks once.
  mlir::LogicalResult end(ws::WorkLoopOp work);

  void fetch() { ++fetches; }
  void giveVerdict(const SyncEvent &event);
  /// Reads the verdicts that `ws.choose_item` reads in this iteration.
  void chooseItem(const SyncEvent &event);
  void secondRun(const SyncEvent &event);

private:
  SyncRun &run;
  int64_t fetches = 0; // in this iteration
  /// Of the role that hands items out.
  ws::HandOutState<int64_t> state;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCITERATIONS_H
