// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/result_use.h"

#include <algorithm>

using namespace attn::sim;

static bool holds(const std::vector<RegisterName> &names,
                  const RegisterName &wanted) {
  return std::any_of(names.begin(), names.end(), [&](const RegisterName &name) {
    return name.number == wanted.number &&
           name.isPredicate == wanted.isPredicate;
  });
}

bool attn::sim::isResultUsed(const std::vector<RegisterUse> &uses,
                             uint32_t at) {
  if (uses[at].writes.empty()) {
    return false;
  }
  const RegisterName &result = uses[at].writes[0];
  std::vector<bool> seen(uses.size());
  std::vector<uint32_t> pending;
  auto goOn = [&](uint32_t from) {
    pending.insert(pending.end(), uses[from].targets.begin(),
                   uses[from].targets.end());
    if (uses[from].fallsThrough) {
      pending.push_back(from + 1);
    }
  };
  goOn(at);
  while (!pending.empty()) {
    uint32_t next = pending.back();
    pending.pop_back();
    if (next >= uses.size() || seen[next]) {
      continue;
    }
    seen[next] = true;
    if (holds(uses[next].reads, result)) {
      return true;
    }
    if (uses[next].isGuarded || !holds(uses[next].writes, result)) {
      goOn(next);
    }
  }
  return false;
}
