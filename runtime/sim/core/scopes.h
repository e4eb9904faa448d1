// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of names in a function, scope by scope.

#ifndef ATTN_SIM_CORE_SCOPES_H
#define ATTN_SIM_CORE_SCOPES_H

#include "core/slots.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace attn::sim {

constexpr unsigned bytesOf(Width width) {
  return width == Width::Predicate ? 0
         : width == Width::B8      ? 1
         : width == Width::B16     ? 2
         : width == Width::B32     ? 4
         : width == Width::B64     ? 8
                                   : 16;
}

struct Register {
  Width width = Width::B32;
  uint32_t slot = kNone;
};

/// The meaning of a name that is not a register.
struct SymbolAddress {
  enum class Space { Shared, Param, Local };
  Space space = Space::Shared;
  uint64_t address = 0;
};

/// "%r<20>": registers %r0 to %r19.
struct RegisterFamily {
  std::string_view prefix;
  uint64_t count = 0;
  Width width = Width::B32;
};

struct NameScope {
  int parent = -1;
  std::unordered_map<std::string_view, Register> registers;
  std::vector<RegisterFamily> families;
  std::unordered_map<std::string_view, uint32_t> labels;
  std::unordered_map<std::string_view, SymbolAddress> variables;
  std::unordered_map<std::string_view, std::vector<std::string_view>> targets;
};

/// Scopes are walked twice: to collect declarations, and to decode.
class Scopes {
public:
  Scopes() : scopes(1) {}

  /// Enters a new scope.
  void openScope();
  /// Enters the scope that was opened next.
  void reopenScope() { current = ++reopened; }
  void leaveScope() { current = scopes[size_t(current)].parent; }
  /// Returns to the outermost scope, to reopen the others.
  void rewind();

  NameScope &here() { return scopes[size_t(current)]; }
  NameScope &outermost() { return scopes.front(); }
  /// Sets the address of all variables of a name.
  void place(std::string_view name, uint64_t address);

  // Searches from this scope outward; returns null if the name is not declared.
  Register *findRegister(std::string_view name);
  const SymbolAddress *findVariable(std::string_view name) const;
  const uint32_t *findLabel(std::string_view name) const;
  /// The labels of a .branchtargets.
  const std::vector<std::string_view> *findTargets(std::string_view name) const;

private:
  std::vector<NameScope> scopes;
  int current = 0;
  int reopened = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_SCOPES_H
