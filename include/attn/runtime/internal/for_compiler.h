// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of libattn_runtime.so for libattn_jit.so only: both share the
// calling thread's last error and the log, and the compiler makes the kernels
// of bundles that have a plan alone. They must have the same version.

#ifndef ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H
#define ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H

#include "attn/runtime/attn.h"

/// Makes `message` this thread's last error and returns `code`.
extern "C" ATTN_API attn_status attn_internal_report(attn_status code,
                                                     const char *message);

extern "C" ATTN_API void attn_internal_log(attn_log_level level,
                                           const char *message);

#define ATTN_INTERNAL_ALL_VARIANTS ((size_t)-1)

/// Makes the kernels of a bundle. Its functions may be called from several
/// threads at once.
struct attn_internal_source {
  void *user;
  /// Sets `*code` to a new reference to a bundle with the same plan and the
  /// kernels of `variant`, or to the whole bundle for
  /// ATTN_INTERNAL_ALL_VARIANTS. On failure attn_last_error() has the reason.
  attn_status (*make)(void *user, size_t variant, attn_bundle **code);
  void (*destroy)(void *user);
};

/// Gives a bundle with a plan alone, which no other thread knows yet, the
/// source of its kernels.
extern "C" ATTN_API void
attn_internal_set_source(attn_bundle *bundle,
                         const attn_internal_source *source);

#endif // ATTN_RUNTIME_INTERNAL_FOR_COMPILER_H
