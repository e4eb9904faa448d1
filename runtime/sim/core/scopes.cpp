// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/scopes.h"

using namespace attn::sim;

void Scopes::openScope() {
  scopes.emplace_back();
  scopes.back().parent = current;
  current = int(scopes.size()) - 1;
}

void Scopes::rewind() {
  current = 0;
  reopened = 0;
}

void Scopes::place(std::string_view name, uint64_t address) {
  for (NameScope &each : scopes) {
    auto found = each.variables.find(name);
    if (found != each.variables.end()) {
      found->second.address = address;
    }
  }
}

/// Finds a register of this scope itself, including those of a family.
static Register *findInScope(NameScope &here, std::string_view name) {
  auto found = here.registers.find(name);
  if (found != here.registers.end()) {
    return &found->second;
  }
  for (const RegisterFamily &family : here.families) {
    std::string_view prefix = family.prefix;
    if (name.size() <= prefix.size() || name.size() > prefix.size() + 7 ||
        name.substr(0, prefix.size()) != prefix) {
      continue;
    }
    uint64_t number = 0;
    bool digits =
        name[prefix.size()] != '0' || name.size() == prefix.size() + 1;
    for (char c : name.substr(prefix.size())) {
      digits &= c >= '0' && c <= '9';
      number = number * 10 + uint64_t(c - '0');
    }
    if (digits && number < family.count) {
      return &(here.registers[name] = {family.width, kNone});
    }
  }
  return nullptr;
}

Register *Scopes::findRegister(std::string_view name) {
  for (int at = current; at >= 0; at = scopes[size_t(at)].parent) {
    if (Register *found = findInScope(scopes[size_t(at)], name)) {
      return found;
    }
  }
  return nullptr;
}

/// Finds a name in one of the maps of `scopes`, from scope `from` outward.
template <typename Value>
static const Value *
findOutward(const std::vector<NameScope> &scopes, int from,
            std::string_view name,
            std::unordered_map<std::string_view, Value> NameScope::*map) {
  for (int at = from; at >= 0; at = scopes[size_t(at)].parent) {
    auto found = (scopes[size_t(at)].*map).find(name);
    if (found != (scopes[size_t(at)].*map).end()) {
      return &found->second;
    }
  }
  return nullptr;
}

const SymbolAddress *Scopes::findVariable(std::string_view name) const {
  return findOutward(scopes, current, name, &NameScope::variables);
}

const uint32_t *Scopes::findLabel(std::string_view name) const {
  return findOutward(scopes, current, name, &NameScope::labels);
}

const std::vector<std::string_view> *
Scopes::findTargets(std::string_view name) const {
  return findOutward(scopes, current, name, &NameScope::targets);
}
