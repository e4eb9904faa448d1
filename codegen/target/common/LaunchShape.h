// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a kernel is launched, and how its CTAs come by work items: all that code,
// checks and launch plans ask of its config.
#ifndef ATTN_CODEGEN_LAUNCHSHAPE_H
#define ATTN_CODEGEN_LAUNCHSHAPE_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// CTAs of a cluster; 1 where there are none.
inline int64_t clusterOf(ws::KernelOp kernel) {
  return kernel.getConfig().getCluster();
}

/// One item a CTA; otherwise a CTA goes from item to item.
inline bool isOneItemACta(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Grid;
}

/// CTAs ask for items while the kernel runs.
inline bool handsOutItems(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Dynamic;
}

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCHSHAPE_H
