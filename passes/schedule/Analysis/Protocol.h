// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound schedule expanded for given trip counts: one token program for each
// role. The cells of places come first, then those of values in registers.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H
#define ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H

#include "attn/passes/schedule/BoundSchedule.h"
#include "attn/passes/schedule/TokenPrograms.h"

namespace attn::sched {

/// An act of a plan in one iteration of one work item; iteration -1 is outside
/// the loop.
struct Item {
  const PlannedAct *act;
  const PlannedActs *list; // of the plan, which has the act
  int item, iteration = -1;

  bool writes() const {
    return act->kind == PlannedAct::Run || act->kind == PlannedAct::Put;
  }
};

/// Iterations of each work item that a sub-tile skips: on the right if n + 1
/// sub-tiles follow it, and on the left if so many come before it.
struct SkippedTrips {
  SmallVector<SmallVector<int>> right, left;
};

/// A cell holds one instance of a value, or the partial result of a step that
/// runs in parts: `Tag::what` is the value, or -1 - step. The source number of
/// a copy is instance count + step.
class Protocol : public TokenPrograms {
public:
  /// `trips`: the iterations of each work item. `cta`: the CTA of the cluster;
  /// its rows come before those of the next.
  Protocol(const BoundSchedule &bound, ArrayRef<int> trips,
           const SkippedTrips &skipped, int cta = 0)
      : bound(bound), trips(trips), skipped(skipped), cta(cta) {}

  /// Expands and derives; checks rules V2, V5, V7, V15, V21.
  LogicalResult derive(EmitError emitError);

  /// Combines the protocols of the CTAs of a cluster (or one for all of them):
  /// instances, barriers, operations and rendezvous of a CTA come after those
  /// of the CTA before (ClusterProtocol.cpp).
  static Protocol joinCluster(ArrayRef<Protocol> ctas);

  std::string describeItem(Point point) const override;
  std::string describeInstance(int instance) const override;
  std::string describeBarrier(int barrier) const override;
  std::string describeTag(const Tag &tag) const override;
  std::string describeSource(int source) const override;
  std::string describeRendezvous(int rendezvous) const override;
  SmallVector<int> waitersOf(int barrier) const override;
  int membersOf(int rendezvous) const override;

  /// Returns how many iterations of an item an instance skips, at its
  /// beginning and at its end.
  int skippedBy(const Instance &instance, int item) const;
  int skippedAtEnd(const Instance &instance, int item) const;

  const BoundSchedule &bound;
  ArrayRef<int> trips;
  const SkippedTrips &skipped;
  int cta;
  int ctas = 1;
  SmallVector<SmallVector<Item>> items; // by instance

private:
  std::string describeCta(int cta) const;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H
