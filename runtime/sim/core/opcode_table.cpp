// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/opcode_table.h"

#include <algorithm>
#include <deque>
#include <mutex>

using namespace attn::sim;

OpcodeTable::OpcodeTable(const Rows &rows) {
  for (const OpRow &row : rows) {
    add(row);
  }
}

static std::vector<std::string_view> splitChoices(std::string_view text) {
  std::vector<std::string_view> choices;
  for (;;) {
    size_t bar = text.find('|');
    choices.push_back(text.substr(0, bar));
    if (bar == std::string_view::npos) {
      return choices;
    }
    text.remove_prefix(bar + 1);
  }
}

void OpcodeTable::add(const OpRow &row) {
  std::string_view text = row.pattern;
  size_t at = text.find_first_of(".[{");
  std::string_view opcode = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at);
  OpPattern pattern;
  pattern.row = row;
  while (!text.empty()) {
    PatternElement element;
    size_t end = 0;
    if (text[0] == '.') {
      end = std::min(text.find_first_of(".[{", 1), text.size());
      element.choices = {text.substr(0, end)};
    } else {
      end = text.find(text[0] == '[' ? ']' : '}') + 1;
      element.optional = text[0] == '[';
      element.choices = splitChoices(text.substr(1, end - 2));
    }
    text.remove_prefix(end);
    pattern.elements.push_back(std::move(element));
  }
  byOpcode[opcode].push_back(std::move(pattern));
}

/// Matches modifiers from `next` on with elements from `element` on.
static bool matchFrom(const OpPattern &pattern, size_t element,
                      const std::vector<std::string_view> &modifiers,
                      size_t next, std::vector<std::string_view> &chosen) {
  if (element == pattern.elements.size()) {
    return next == modifiers.size();
  }
  const PatternElement &here = pattern.elements[element];
  if (next < modifiers.size()) {
    for (std::string_view choice : here.choices) {
      if (choice == modifiers[next]) {
        chosen[element] = choice;
        if (matchFrom(pattern, element + 1, modifiers, next + 1, chosen)) {
          return true;
        }
      }
    }
  }
  chosen[element] = {};
  return here.optional &&
         matchFrom(pattern, element + 1, modifiers, next, chosen);
}

bool OpcodeTable::findRow(const ptx::Instruction &instruction, Match &match,
                          std::string &problem) const {
  auto patterns = byOpcode.find(instruction.opcode);
  if (patterns == byOpcode.end()) {
    problem = "unknown opcode '" + std::string(instruction.opcode) + "'";
    return false;
  }
  for (const OpPattern &pattern : patterns->second) {
    match.chosen.assign(pattern.elements.size(), {});
    if (matchFrom(pattern, 0, instruction.modifiers, 0, match.chosen)) {
      match.row = &pattern.row;
      return true;
    }
  }
  problem = "unsupported form '" + std::string(instruction.opcode);
  for (std::string_view modifier : instruction.modifiers) {
    problem += modifier;
  }
  problem += "'";
  return false;
}

const char *attn::sim::keep(std::string text) {
  static std::mutex mutex;
  static auto *kept = new std::deque<std::string>;
  std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(std::move(text));
  return kept->back().c_str();
}

void attn::sim::require(Rows &rows, size_t first, TargetSet targets) {
  for (size_t i = first; i < rows.size(); ++i) {
    rows[i].targets &= targets;
  }
}
