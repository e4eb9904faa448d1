// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of the C interface: the handle, the thread's last error,
// and the check for null.

#ifndef ATTN_RUNTIME_LIB_C_HANDLE_H
#define ATTN_RUNTIME_LIB_C_HANDLE_H

#include "attn/runtime/internal/for_compiler.h"
#include "loaded_bundle.h"

#include <atomic>
#include <initializer_list>

struct attn_bundle {
  std::unique_ptr<attn::runtime::LoadedBundle> loaded;
  std::atomic<size_t> references{1};
};

namespace attn::runtime {

/// Hands `status` to the caller.
inline attn_status report(const Status &status) {
  return attn_internal_report(status.getCode(), status.getMessage().c_str());
}

/// A required pointer, with its name in attn.h.
struct Required {
  const char *name;
  const void *value;
};

inline Status checkGiven(std::initializer_list<Required> all) {
  for (const Required &each : all) {
    if (!each.value) {
      return invalidArgument("expected " + quote(each.name) +
                             " to be given, got null");
    }
  }
  return {};
}

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_C_HANDLE_H
