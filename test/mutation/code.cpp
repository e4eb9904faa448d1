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
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ptx::Statement &each = function.body[i];
    if (each.kind == ptx::Statement::Kind::Registers && nodes[i].inScope) {
      declare(function.registers[each.index], i);
    } else if (each.kind == ptx::Statement::Kind::Instruction) {
      nodes[i].instruction = &function.instructions[each.index];
      findOperands(i);
    }
  }
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

unsigned Code::countBranchesTo(std::string_view label) const {
  unsigned count = 0;
  for (const Node &node : nodes) {
    count += node.is("bra") && !node.instruction->operands.empty() &&
             node.instruction->operands[0].name == label;
  }
  return count;
}
