// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel computes its number of work items in 32 bits, a launch plan in 64.
// The plan refuses launches for which these differ.
#ifndef ATTN_CODEGEN_LAUNCH_OVERFLOWCHECKS_H
#define ATTN_CODEGEN_LAUNCH_OVERFLOWCHECKS_H

#include "LaunchExpressions.h"

namespace attn::codegen {

class LaunchItems;

/// Adds the missing `checks` to the plan, so that the extents of the work
/// items, the length along which items are cut, and everything that they are
/// computed from fit 32 bits, and that extents are not negative. `checks`
/// already limit the number of items.
void addOverflowChecks(ws::KernelOp kernel, const LaunchItems &items,
                       llvm::SmallVectorImpl<LaunchCheck> &checks);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_OVERFLOWCHECKS_H
