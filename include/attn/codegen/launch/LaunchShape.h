// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a launch: how many CTAs there are, and how work items come to
// them. These questions are asked of the kernel's config here and nowhere else.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHSHAPE_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHSHAPE_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// Threads of a warp, on all chips.
constexpr int64_t warpThreads = 32;

/// Returns the CTAs of a cluster; 1 if the kernel has no clusters.
inline int64_t clusterOf(ws::KernelOp kernel) {
  return kernel.getConfig().getCluster();
}

/// Says whether each CTA computes one item. Otherwise it goes from item to
/// item.
inline bool isOneItemACta(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Grid;
}

/// Says whether CTAs ask for items while the kernel runs.
inline bool handsOutItems(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Dynamic;
}

/// Returns the order in which the numbers of items run over row blocks, heads
/// and batches.
inline WorkOrder orderOf(ws::KernelOp kernel) {
  return kernel.getConfig().getOrder();
}

/// Returns the rows of a row block, which one CTA computes of an item.
inline int64_t blockRowsOf(ws::KernelOp kernel) {
  return kernel.getConfig().getTileM();
}

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHSHAPE_H
