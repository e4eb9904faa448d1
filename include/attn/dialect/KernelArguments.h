// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the names of a kernel's arguments say.
#ifndef ATTN_DIALECT_KERNELARGUMENTS_H
#define ATTN_DIALECT_KERNELARGUMENTS_H

#include "llvm/ADT/StringRef.h"

namespace attn {

/// The tensors that a kernel writes: O, and the log-sum-exp of its rows.
inline bool isResultArgument(llvm::StringRef name) {
  return name == "o" || name == "lse";
}

} // namespace attn

#endif // ATTN_DIALECT_KERNELARGUMENTS_H
