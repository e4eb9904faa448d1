// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libattn_jit.so uses of libattn_runtime.so beside the public interface:
// the two share the calling thread's last error and the log. Both libraries
// have to be of one version.

#ifndef ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H
#define ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H

#include "attn/runtime/attn.h"

/// Makes `message` this thread's last error and returns `code`.
extern "C" ATTN_API attn_status attn_internal_report(attn_status code,
                                                     const char *message);

extern "C" ATTN_API void attn_internal_log(attn_log_level level,
                                           const char *message);

#endif // ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H
