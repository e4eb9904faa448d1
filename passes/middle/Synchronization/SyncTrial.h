// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the roles of a kernel against one another for given work items.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCTRIAL_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCTRIAL_H

#include "SyncPrograms.h"
#include "TileRanges.h"

namespace attn {

/// A kernel that is run with several lists of items.
class SyncTrial {
public:
  explicit SyncTrial(ws::KernelOp kernel);

  /// Checks all rules for these work items of a CTA; V28 if tiles are followed.
  mlir::LogicalResult run(llvm::ArrayRef<SyncItem> items,
                          bool followTiles) const;

  /// Unrolls every role: each replica of a role, in each CTA of a cluster, is
  /// an agent. With `contents`, the tiles of the last CTA are followed.
  mlir::FailureOr<std::vector<SyncAgent>> unroll(llvm::ArrayRef<SyncItem> items,
                                                 TileContents *contents) const;
  SyncPrograms write(llvm::ArrayRef<SyncAgent> agents) const {
    return SyncPrograms(events, memory, agents, ctas);
  }

  const SyncEvents &getEvents() const { return events; }

private:
  ws::KernelOp kernel;
  SyncEvents events;
  SharedMemory memory;
  int64_t ctas;
  std::vector<SyncReplica> replicas; // roles that copy come first
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCTRIAL_H
