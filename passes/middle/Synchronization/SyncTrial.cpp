// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncTrial.h"
#include "SyncBalance.h"
#include "SyncUnroller.h"
#include "attn/passes/schedule/Execution.h"

using namespace mlir;
using namespace attn;

static bool copies(ws::RoleOp role) {
  return role.walk([](ws::CopyOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Roles that copy come first, so that the content of a slot is known when it
/// is read.
static std::vector<SyncReplica> replicasOf(ws::KernelOp kernel, int64_t ctas) {
  std::vector<SyncReplica> replicas;
  for (bool first : {true, false}) {
    for (int64_t cta = 0; cta < ctas; ++cta) {
      for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
        for (int64_t r = 0, e = role.getReplicas(); r < e; ++r) {
          if (copies(role) == first) {
            replicas.push_back({role, r, cta, ctas - 1 - cta});
          }
        }
      }
    }
  }
  return replicas;
}

SyncTrial::SyncTrial(ws::KernelOp kernel)
    : kernel(kernel), events(kernel), memory(kernel),
      ctas(kernel.getConfig().getCluster()),
      replicas(replicasOf(kernel, ctas)) {}

FailureOr<std::vector<SyncAgent>>
SyncTrial::unroll(ArrayRef<SyncItem> items, TileContents *contents) const {
  std::vector<SyncAgent> agents;
  for (const SyncReplica &of : replicas) {
    // The CTAs of a cluster skip different numbers of blocks: the last one
    // skips fewest.
    std::optional<TileRanges> tiles;
    if (contents && of.later == 0) {
      tiles.emplace(*contents, of.cta);
    }
    SyncUnroller unroller(events, items, of, tiles ? &*tiles : nullptr);
    if (failed(unroller.unroll())) {
      return failure();
    }
    agents.push_back(SyncAgent{of.role, of.cta, of.replica,
                               unroller.takeSteps(), unroller.takeCounts()});
  }
  return agents;
}

LogicalResult SyncTrial::run(ArrayRef<SyncItem> items, bool followTiles) const {
  auto emitError = [&] { return emitSyncError(ws::KernelOp(kernel), items); };
  TileContents contents;
  FailureOr<std::vector<SyncAgent>> agents =
      unroll(items, followTiles ? &contents : nullptr);
  if (failed(agents) ||
      failed(SyncBalance(events, *agents, ctas, emitError).check()) ||
      (followTiles && failed(contents.checkStores(kernel, items)))) {
    return failure();
  }
  return execute(write(*agents), emitError);
}
