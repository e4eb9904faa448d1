// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel computes its number of work items in 32 bits, a launch plan in 64.
// The plan refuses the launches for which these differ.
#ifndef ATTN_CODEGEN_LAUNCH_OVERFLOWCHECKS_H
#define ATTN_CODEGEN_LAUNCH_OVERFLOWCHECKS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

class LaunchItems;

/// Adds to the plan's `checks` what they lack to keep the extents of the work
/// items, the length along which items are cut, and everything they are
/// computed from within 32 bits, and extents at 0 or above. `checks` bound the
/// number of items already.
void addOverflowChecks(ws::KernelOp kernel, const LaunchItems &items,
                       llvm::json::Array &checks);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_OVERFLOWCHECKS_H
