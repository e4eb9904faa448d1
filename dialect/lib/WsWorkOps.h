// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_LIB_WSWORKOPS_H
#define ATTN_DIALECT_LIB_WSWORKOPS_H

#include "attn/dialect/Ws.h"

namespace attn::ws {

/// Checks C9 to C11, C13 and C14 of ws.kernel: how its roles, and the CTAs of a
/// cluster, receive work items.
llvm::LogicalResult verifyItems(KernelOp kernel);

} // namespace attn::ws

#endif // ATTN_DIALECT_LIB_WSWORKOPS_H
