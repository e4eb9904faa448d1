// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unrolled roles of a kernel as token programs: one agent for each replica
// of a role in each CTA of a cluster.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCPROGRAMS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCPROGRAMS_H

#include "SyncCells.h"

namespace attn {

/// Returns "role 'wg' replica 0", with the CTA if there are several.
std::string describe(const SyncAgent &agent, int64_t ctas);

/// Cells are tagged with the object, the work item and the cycle, or with the
/// number of the put in its item. A source is an agent, or agent count + agent
/// for the copies of an agent.
class SyncPrograms : public TokenPrograms {
public:
  SyncPrograms(const SyncEvents &events, const SharedMemory &memory,
               llvm::ArrayRef<SyncAgent> agents, int64_t ctas);

  std::string describeItem(Point point) const override;
  std::string describeInstance(int instance) const override;
  std::string describeBarrier(int barrier) const override;
  std::string describeTag(const Tag &tag) const override;
  std::string describeSource(int source) const override;
  std::string describeRendezvous(int rendezvous) const override;
  void locate(Point point, mlir::InFlightDiagnostic &error) const override;
  llvm::SmallVector<int> waitersOf(int barrier) const override;
  int membersOf(int rendezvous) const override;

  const SyncEvents &events;
  const llvm::ArrayRef<SyncAgent> agents;
  const int64_t ctas;
  const SyncBarriers barriers;
  const SyncCells cells;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCPROGRAMS_H
