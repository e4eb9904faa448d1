// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name by which a `launch.sequence` lists the launch of a kernel.
#ifndef ATTN_DIALECT_LAUNCHNAME_H
#define ATTN_DIALECT_LAUNCHNAME_H

#include "attn/dialect/Ws.h"

namespace attn::ws {

/// Returns the group of the variants from which one is launched, or the name of
/// a kernel without variants.
inline llvm::StringRef launchNameOf(KernelOp kernel) {
  return kernel.getVariant() ? kernel.getVariant()->getGroup().getValue()
                             : kernel.getSymName();
}

} // namespace attn::ws

#endif // ATTN_DIALECT_LAUNCHNAME_H
