// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the process alive if a request needs more memory than there is.
#ifndef ATTN_JIT_OUTOFMEMORY_H
#define ATTN_JIT_OUTOFMEMORY_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn::jit {

/// Runs `body`; returns false if memory ran out. Data that `body` had built is
/// then leaked, since `body` is compiled without exception cleanup.
bool runInMemory(llvm::function_ref<void()> body);

} // namespace attn::jit

#endif // ATTN_JIT_OUTOFMEMORY_H
