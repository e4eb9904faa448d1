// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A request of a caller to compile a module.
#ifndef ATTN_JIT_REQUEST_H
#define ATTN_JIT_REQUEST_H

#include "CacheKey.h"
#include "attn/runtime/internal/status.h"
#include "attn/support/GradientRequest.h"
#include <optional>

namespace attn::jit {

using runtime::Status;

struct Request {
  std::string ir;
  std::string target;
  std::optional<std::string> schedule;
  std::optional<std::string> instrument;
  std::optional<GradientRequest> gradients;

  /// Checks the caller's struct and copies what it points to.
  static Status read(const attn_compile_args *args, Request &out);

  /// Returns the key of the bundle that this build of the compiler and the
  /// assembler of version `ptxas` ("": none) make.
  CacheKey getKey(llvm::StringRef ptxas) const;

  /// Whether variants of the table may be compiled one by one.
  bool maySeparate() const { return !schedule && !instrument; }
};

} // namespace attn::jit

#endif // ATTN_JIT_REQUEST_H
