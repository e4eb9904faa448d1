// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error reporting of the runtime's C++ code: a status code with a message.

#ifndef ATTN_RUNTIME_INTERNAL_STATUS_H
#define ATTN_RUNTIME_INTERNAL_STATUS_H

#include "attn/runtime/attn.h"

#include <string>
#include <utility>

namespace attn::runtime {

/// Success, or a code and a message. Tests as true on failure, so that
/// `if (Status status = f()) { return status; }` passes a failure on.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(attn_status code, std::string message)
      : code(code), message(std::move(message)) {}

  explicit operator bool() const { return code != ATTN_SUCCESS; }
  attn_status getCode() const { return code; }
  const std::string &getMessage() const { return message; }

private:
  attn_status code = ATTN_SUCCESS;
  std::string message;
};

inline Status invalidArgument(std::string message) {
  return {ATTN_INVALID_ARGUMENT, std::move(message)};
}

inline Status invalidPlan(const std::string &path, const std::string &message) {
  return {ATTN_INVALID_BUNDLE,
          "plan: " + (path.empty() ? "" : path + ": ") + message};
}

inline std::string quote(const std::string &name) { return "'" + name + "'"; }

} // namespace attn::runtime

#endif // ATTN_RUNTIME_INTERNAL_STATUS_H
