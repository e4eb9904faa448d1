// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a kernel is launched, and how its CTAs come by work items, as its config
// says.
#ifndef ATTN_CODEGEN_LAUNCHSHAPE_H
#define ATTN_CODEGEN_LAUNCHSHAPE_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// CTAs of a cluster; 1 where there are none.
inline int64_t clusterOf(ws::KernelOp kernel) {
  return kernel.getConfig().getCluster();
}

/// CTAs ask for items while the kernel runs.
inline bool handsOutItems(ws::KernelOp kernel) {
  return kernel.getConfig().getWork() == WorkKind::Dynamic;
}

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCHSHAPE_H
