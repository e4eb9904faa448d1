// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncTrial.h"
#include "../Execution/Execution.h"
#include "SyncBalance.h"
#include "TileRanges.h"

using namespace mlir;
using namespace attn;

/// Copies come first: what they fill is known when it is read.
static std::vector<SyncReplica> replicasOf(ws::KernelOp kernel, int64_t ctas) {
  std::vector<SyncReplica> replicas;
  for (int64_t cta = 0; cta < ctas; ++cta) {
    for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
      for (int64_t r = 0, e = role.getReplicas(); r < e; ++r) {
        replicas.push_back({role, r, cta, ctas - 1 - cta});
      }
    }
  }
  auto copies = [](const SyncReplica &of) {
    ws::RoleOp role = of.role;
    return role.walk([](ws::CopyOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  std::partition(replicas.begin(), replicas.end(), copies);
  return replicas;
}

FailureOr<std::vector<SyncAgent>> SyncTrial::unroll(ArrayRef<SyncItem> items,
                                                    bool followTiles) const {
  std::vector<SyncAgent> agents;
  TileContents contents;
  for (const SyncReplica &of : replicasOf(kernel, ctas)) {
    TileRanges tiles(contents, of.cta);
    // The CTAs of a cluster are alike but for the blocks that they skip.
    bool follow = followTiles && of.cta == 0;
    SyncUnroller unroller(events, items, of, follow ? &tiles : nullptr);
    if (failed(unroller.unroll())) {
      return failure();
    }
    agents.push_back(SyncAgent{of.role, of.cta, of.replica,
                               unroller.takeSteps(), unroller.takeCounts()});
  }
  if (failed(contents.checkStores(items))) {
    return failure();
  }
  return agents;
}

LogicalResult SyncTrial::run(ArrayRef<SyncItem> items, bool followTiles) const {
  auto emitError = [&] { return emitSyncError(ws::KernelOp(kernel), items); };
  FailureOr<std::vector<SyncAgent>> agents = unroll(items, followTiles);
  if (failed(agents) ||
      failed(SyncBalance(events, *agents, ctas, emitError).check())) {
    return failure();
  }
  return execute(SyncPrograms(events, memory, *agents, ctas), emitError);
}
