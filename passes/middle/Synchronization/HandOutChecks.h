// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_HANDOUTCHECKS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_HANDOUTCHECKS_H

#include "attn/dialect/Ws.h"

namespace attn {

/// Checks that the ops that hand out work items pass on one another's results:
/// from the counter's answer through the choice among rejected items to the
/// item. The unroller of programs makes items up and does not look at these.
llvm::LogicalResult checkHandOut(ws::KernelOp kernel);

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_HANDOUTCHECKS_H
