// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of libattn_runtime.so for libattn_jit.so only: both share the
// calling thread's last error and the log. They must have the same version.

#ifndef ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H
#define ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H

#include "attn/runtime/attn.h"

/// Makes `message` this thread's last error and returns `code`.
extern "C" ATTN_API attn_status attn_internal_report(attn_status code,
                                                     const char *message);

extern "C" ATTN_API void attn_internal_log(attn_log_level level,
                                           const char *message);

#endif // ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H
