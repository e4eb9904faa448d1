// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a launch: the number of CTAs, and how they get work items. Only
// these functions read it from the kernel's config.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHSHAPE_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHSHAPE_H

#include "attn/dialect/ItemMemory.h"
#include "attn/dialect/OwnedSide.h"

namespace attn::codegen {

/// The threads of a warp, on all chips.
constexpr int64_t warpThreads = 32;

/// Returns the number of CTAs of a cluster; 1 if the kernel has no clusters.
inline int64_t clusterOf(ws::KernelOp kernel) {
  return kernel.getConfig().getCluster();
}

/// Returns whether each CTA computes only one item.
inline bool isOneItemACta(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Grid;
}

/// Returns whether CTAs ask for items while the kernel runs.
inline bool handsOutItems(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Dynamic;
}

/// Returns whether a CTA takes its only item from a counter as it begins.
inline bool claimsItem(ws::KernelOp kernel) {
  return ws::claimsItem(kernel.getArgs(), kernel.getConfig());
}

/// Returns whether items come from a counter in the workspace.
inline bool hasCounter(ws::KernelOp kernel) {
  return handsOutItems(kernel) || claimsItem(kernel);
}

/// Returns the order in which the numbers of items run over row blocks, heads
/// and batches.
inline WorkOrder orderOf(ws::KernelOp kernel) {
  return kernel.getConfig().getOrder();
}

/// Returns whether the first row block of a head comes before its others: in
/// linear order, and in orders that begin with the longest item where items own
/// keys. A causal mask leaves the first keys the most queries, and the last
/// queries the most keys.
inline bool startsAtFirstBlock(ws::KernelOp kernel) {
  return orderOf(kernel) == WorkOrder::Linear ||
         ownsKeys(kernel.getProblem().getKind());
}

/// Returns the rows of a row block: those of an item that one CTA computes.
inline int64_t blockRowsOf(ws::KernelOp kernel) {
  return kernel.getConfig().getTileM();
}

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHSHAPE_H
