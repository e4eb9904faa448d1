// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_JIT_JUDGEMENTS_H
#define ATTN_JIT_JUDGEMENTS_H

#include "Request.h"
#include <map>

namespace attn::jit {

/// What the part of the compiler that may refuse a request has said of those
/// that it was asked for: accepted, or why not.
class Judgements {
public:
  /// Errors of another kind are no answer, and are not kept.
  void keep(const Request &request, const Status &status) {
    if (!status || status.getCode() == ATTN_UNSUPPORTED) {
      byKey.emplace(request.getKey(""), status);
    }
  }

  /// Returns null if there is no answer.
  const Status *find(const Request &request) const {
    auto found = byKey.find(request.getKey(""));
    return found == byKey.end() ? nullptr : &found->second;
  }

  void clear() { byKey.clear(); }

private:
  /// By the key for no assembler, which has no part in the answer.
  std::map<CacheKey, Status> byKey;
};

} // namespace attn::jit

#endif // ATTN_JIT_JUDGEMENTS_H
