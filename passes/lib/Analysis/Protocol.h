// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound schedule expanded for given trip counts: one token program a role.
// The cells of places come first, then those of values in registers.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H
#define ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H

#include "../Execution/TokenPrograms.h"
#include "BoundSchedule.h"

namespace attn::sched {

/// An entry of a body in one iteration of one work item.
struct Item {
  enum Kind { Run, ItemBegin, IterationEnd, LoopEnd, ItemEnd } kind = Run;
  const Entry *entry = nullptr;
  int item = 0, iteration = -1;

  bool writes() const {
    return kind == Run && (entry->act == Act::Op || entry->act == Act::Put);
  }
};

/// A cell holds one instance of a value, or the partial result of a step that
/// runs in parts: `Tag::what` is the value, or -1 - step. A copy is the source
/// number instance count + step.
class Protocol : public TokenPrograms {
public:
  Protocol(const BoundSchedule &bound, ArrayRef<int> trips)
      : bound(bound), trips(trips) {}

  /// Expands and derives; rules V2, V5, V7, V15, V21.
  LogicalResult derive(EmitError emitError);

  /// The same for all CTAs of the cluster, whose instances, barriers,
  /// operations and rendezvous follow those of the first (ClusterProtocol.cpp).
  Protocol spreadOverCluster();

  std::string describeItem(Point point) const override;
  std::string describeInstance(int instance) const override;
  std::string describeBarrier(int barrier) const override;
  std::string describeTag(const Tag &tag) const override;
  std::string describeSource(int source) const override;
  std::string describeRendezvous(int rendezvous) const override;
  SmallVector<int> waitersOf(int barrier) const override;
  int membersOf(int rendezvous) const override;

  const BoundSchedule &bound;
  ArrayRef<int> trips;
  int ctas = 1;
  SmallVector<SmallVector<Item>> items; // by instance of one CTA

private:
  std::string describeCta(int cta) const;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H
