// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "code.h"

#include <algorithm>
#include <array>

using namespace attn::mutation;

bool Node::has(std::string_view modifier) const {
  return instruction &&
         std::find(instruction->modifiers.begin(), instruction->modifiers.end(),
                   modifier) != instruction->modifiers.end();
}

bool attn::mutation::writesFirstOperand(const ptx::Instruction &instruction) {
  static constexpr std::array<std::string_view, 17> kNever = {
      "bar",        "barrier", "bra",       "brx",      "cp",  "exit",
      "fence",      "membar",  "nanosleep", "prefetch", "red", "ret",
      "setmaxnreg", "st",      "stmatrix",  "trap",     "call"};
  // Of tcgen05, only loads write registers.
  if (instruction.opcode == "tcgen05" && instruction.modifiers[0] != ".ld") {
    return false;
  }
  return !instruction.operands.empty() &&
         instruction.operands[0].kind != ptx::Operand::Kind::Address &&
         std::find(kNever.begin(), kNever.end(), instruction.opcode) ==
             kNever.end();
}

Code::Code(const ptx::Function &function)
    : function(function), nodes(function.body.size()) {
  findScopes();
  findLabels();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ptx::Statement &each = function.body[i];
    if (each.kind == ptx::Statement::Kind::Registers && nodes[i].inScope) {
      declare(function.registers[each.index], i);
    } else if (each.kind == ptx::Statement::Kind::Instruction) {
      nodes[i].instruction = &function.instructions[each.index];
      findOperands(i);
    }
  }
  findRepeated();
}

void Code::findScopes() {
  size_t depth = 0;
  size_t open = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (function.body[i].kind == ptx::Statement::Kind::Open && depth++ == 0) {
      open = i;
    }
    if (function.body[i].kind != ptx::Statement::Kind::Close || --depth > 0) {
      continue;
    }
    for (size_t inside = open; inside <= i; ++inside) {
      nodes[inside].inScope = true;
      nodes[inside].open = open;
      nodes[inside].close = i;
    }
  }
}

void Code::declare(const ptx::Registers &registers, size_t statement) {
  size_t open = nodes[statement].open;
  for (const ptx::Registers::Item &item : registers.items) {
    std::string name(item.name);
    scopes[open][name] = name + "@" + std::to_string(open);
  }
}

std::string Code::resolve(size_t statement, std::string_view name) const {
  const Node &node = nodes[statement];
  if (node.inScope) {
    auto scope = scopes.find(node.open);
    if (scope != scopes.end()) {
      auto found = scope->second.find(name);
      if (found != scope->second.end()) {
        return found->second;
      }
    }
  }
  return std::string(name);
}

void Code::collect(const ptx::Operand &operand, size_t statement,
                   std::vector<std::string> &names) const {
  if (operand.kind == ptx::Operand::Kind::Name) {
    names.push_back(resolve(statement, operand.name));
  }
  for (const ptx::Operand &element : operand.elements) {
    collect(element, statement, names);
  }
}

void Code::findOperands(size_t statement) {
  Node &node = nodes[statement];
  const ptx::Instruction &instruction = *node.instruction;
  bool writes = writesFirstOperand(instruction);
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    bool isWritten = writes && i == 0;
    collect(instruction.operands[i], statement,
            isWritten ? node.writes : node.reads);
    if (isWritten && instruction.opcode == "wgmma") {
      collect(instruction.operands[i], statement, node.reads);
    }
  }
  if (!instruction.guard.empty()) {
    node.reads.push_back(resolve(statement, instruction.guard));
  }
}

void Code::findLabels() {
  for (size_t i = 0; i < size(); ++i) {
    if (statement(i).kind == ptx::Statement::Kind::Label && !nodes[i].inScope) {
      labels[statement(i).text] = i;
    }
  }
}

std::vector<size_t> Code::successors(size_t statement) const {
  const Node &node = nodes[statement];
  bool leaves =
      !node.inScope && (node.is("bra") || node.is("ret") || node.is("exit"));
  std::vector<size_t> next;
  if (!leaves || !node.instruction->guard.empty()) {
    next.push_back(statement + 1);
  }
  if (leaves && node.is("bra")) {
    auto target = labels.find(node.instruction->operands[0].name);
    next.push_back(target == labels.end() ? statement : target->second);
  }
  return next;
}

bool Code::isReached(size_t from, size_t statement) const {
  std::vector<bool> seen(size());
  std::vector<size_t> left = successors(from);
  while (!left.empty()) {
    size_t at = left.back();
    left.pop_back();
    if (at >= size() || seen[at]) {
      continue;
    }
    if (at == statement) {
      return true;
    }
    seen[at] = true;
    std::vector<size_t> next = successors(at);
    left.insert(left.end(), next.begin(), next.end());
  }
  return false;
}

void Code::findRepeated() {
  for (size_t i = 0; i < size(); ++i) {
    nodes[i].isRepeated = isReached(i, i);
    for (const std::string &name : nodes[i].reads) {
      readers[name].push_back(i);
    }
  }
}

bool Code::isOnce(size_t statement) const {
  std::vector<bool> seen(size());
  std::vector<size_t> left = {statement};
  while (!left.empty()) {
    size_t at = left.back();
    left.pop_back();
    if (nodes[at].isRepeated) {
      return false;
    }
    for (const std::string &name : nodes[at].writes) {
      auto found = readers.find(name);
      for (size_t i = 0; found != readers.end() && i < found->second.size();
           ++i) {
        size_t reader = found->second[i];
        if (!seen[reader]) {
          seen[reader] = true;
          left.push_back(reader);
        }
      }
    }
  }
  return true;
}

unsigned Code::countBranchesTo(std::string_view label) const {
  unsigned count = 0;
  for (const Node &node : nodes) {
    count += node.is("bra") && !node.instruction->operands.empty() &&
             node.instruction->operands[0].name == label;
  }
  return count;
}
