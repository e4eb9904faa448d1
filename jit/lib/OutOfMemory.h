// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A request that needs more memory than there is must not end the process.
#ifndef ATTN_JIT_OUTOFMEMORY_H
#define ATTN_JIT_OUTOFMEMORY_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn::jit {

/// Runs `body`; false if memory ran out. What `body` had built is then leaked,
/// since it is compiled without what exceptions need to clean up.
bool runInMemory(llvm::function_ref<void()> body);

} // namespace attn::jit

#endif // ATTN_JIT_OUTOFMEMORY_H
