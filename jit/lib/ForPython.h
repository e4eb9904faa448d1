// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of libattn_jit.so for the Python package only. Library and package
// must have the same version.

#ifndef ATTN_JIT_LIB_FORPYTHON_H
#define ATTN_JIT_LIB_FORPYTHON_H

#include "attn/runtime/attn.h"

/// As attn_compile, until attn_internal_give_up_ahead.
extern "C" ATTN_API attn_status attn_internal_compile_ahead(
    const attn_compile_args *args, attn_bundle **bundle);

/// Makes those compilations fail soon, now and later: a process that exits must
/// wait for its threads to leave the compiler.
extern "C" ATTN_API void attn_internal_give_up_ahead(void);

#endif // ATTN_JIT_LIB_FORPYTHON_H
