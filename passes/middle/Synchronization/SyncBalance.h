// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V15: the ends of every channel, hold, edge and turn run equally often.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCBALANCE_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCBALANCE_H

#include "SyncPrograms.h"

namespace attn {

class SyncBalance {
public:
  SyncBalance(const SyncEvents &events, llvm::ArrayRef<SyncAgent> agents,
              int64_t ctas,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError)
      : events(events), agents(agents), ctas(ctas), emitError(emitError) {}

  mlir::LogicalResult check();

private:
  mlir::LogicalResult checkChannel(unsigned channel);
  mlir::LogicalResult checkHold(unsigned hold);
  mlir::LogicalResult checkVerdict(unsigned verdict);
  /// Checks that in each CTA the agents with `a` and those with `b` have run
  /// equally often; the agent that has run least often counts.
  mlir::LogicalResult checkEnds(unsigned object, SyncEvent::Kind a,
                                SyncEvent::Kind b);
  /// Checks that every agent has run `a` as often as `b`.
  mlir::LogicalResult checkPair(unsigned object, SyncEvent::Kind a,
                                SyncEvent::Kind b, llvm::StringRef what);
  int64_t least(SyncEvent::Kind kind, unsigned object, int64_t cta) const;

  const SyncEvents &events;
  llvm::ArrayRef<SyncAgent> agents;
  int64_t ctas;
  llvm::function_ref<mlir::InFlightDiagnostic()> emitError;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCBALANCE_H
