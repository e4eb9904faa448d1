// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which side of the score matrix the work items of a kernel own.
#ifndef ATTN_DIALECT_OWNEDSIDE_H
#define ATTN_DIALECT_OWNEDSIDE_H

#include "attn/dialect/Attn.h"
#include "llvm/ADT/STLExtras.h"

namespace attn {

/// Whether items own blocks of keys, and loop over the query heads of a group.
/// Those of other kernels own queries, or no side.
inline bool ownsKeys(KernelKind kind) {
  return llvm::is_contained({KernelKind::BwdDKDV, KernelKind::BwdDK,
                             KernelKind::BwdDV, KernelKind::BwdKeys,
                             KernelKind::Bwd, KernelKind::BwdDQDK,
                             KernelKind::BwdOrdered},
                            kind);
}

} // namespace attn

#endif // ATTN_DIALECT_OWNEDSIDE_H
