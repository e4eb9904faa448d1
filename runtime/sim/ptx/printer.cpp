// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "module.h"

#include <cinttypes>
#include <cstdio>

using namespace attn::sim;
using namespace attn::sim::ptx;

namespace {

class Printer {
public:
  std::string take() { return std::move(out); }

  void print(const Module &module);
  void print(const Instruction &instruction);
  void print(const Operand &operand);

private:
  void print(const Variable &variable);
  void print(const Function &function);
  void print(const Registers &registers);
  void print(const Statement &statement, const Function &function);
  void print(const std::vector<Operand> &operands);
  void printParams(const std::vector<Variable> &params);
  void printOffset(int64_t offset);

  Printer &add(std::string_view text) {
    out += text;
    return *this;
  }
  Printer &add(uint64_t value) { return add(std::to_string(value)); }

  std::string out;
};

} // namespace

void Printer::printOffset(int64_t offset) {
  if (offset != 0) {
    add("+").add(std::to_string(offset));
  }
}

void Printer::print(const std::vector<Operand> &operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    add(i == 0 ? "" : ", ");
    print(operands[i]);
  }
}

void Printer::print(const Operand &operand) {
  char digits[32];
  switch (operand.kind) {
  case Operand::Kind::Name:
    add(operand.negated ? "!" : "").add(operand.name).add(operand.member);
    printOffset(operand.offset);
    return;
  case Operand::Kind::Sink:
    add("_");
    return;
  case Operand::Kind::Integer:
    if (operand.minus) {
      add("-").add(0 - operand.bits);
    } else {
      add(operand.bits);
    }
    return;
  case Operand::Kind::Single:
    std::snprintf(digits, sizeof(digits), "0f%08" PRIX64, operand.bits);
    add(digits);
    return;
  case Operand::Kind::Double:
    std::snprintf(digits, sizeof(digits), "0d%016" PRIX64, operand.bits);
    add(digits);
    return;
  case Operand::Kind::Vector:
    add("{");
    print(operand.elements);
    add("}");
    return;
  case Operand::Kind::List:
    add("(");
    print(operand.elements);
    add(")");
    return;
  case Operand::Kind::Pair:
    print(operand.elements[0]);
    add("|");
    print(operand.elements[1]);
    return;
  case Operand::Kind::Address:
    add("[");
    for (size_t i = 0; i < operand.elements.size(); ++i) {
      add(i == 0 ? "" : ", ");
      print(operand.elements[i]);
      if (i == 0) {
        printOffset(operand.offset);
      }
    }
    add("]");
    return;
  }
}

void Printer::print(const Instruction &instruction) {
  if (!instruction.guard.empty()) {
    add(instruction.guardNegated ? "@!" : "@").add(instruction.guard).add(" ");
  }
  add(instruction.opcode);
  for (std::string_view modifier : instruction.modifiers) {
    add(modifier);
  }
  if (!instruction.operands.empty()) {
    add(" ");
    print(instruction.operands);
  }
  add(";");
}

void Printer::print(const Variable &variable) {
  for (std::string_view linkage : variable.linkage) {
    add(linkage).add(" ");
  }
  add(variable.space);
  if (variable.align) {
    add(" .align ").add(variable.align);
  }
  if (!variable.vector.empty()) {
    add(" ").add(variable.vector);
  }
  add(" ").add(variable.type);
  if (variable.isPointer) {
    add(" .ptr");
    if (!variable.pointerSpace.empty()) {
      add(" ").add(variable.pointerSpace);
    }
    if (variable.pointerAlign) {
      add(" .align ").add(variable.pointerAlign);
    }
  }
  add(" ").add(variable.name);
  for (int64_t extent : variable.dims) {
    add("[").add(extent < 0 ? "" : std::to_string(extent)).add("]");
  }
  if (!variable.initializer.empty()) {
    add(" = ").add(variable.initializer);
  }
}

void Printer::printParams(const std::vector<Variable> &params) {
  add("(");
  for (size_t i = 0; i < params.size(); ++i) {
    add(i == 0 ? "\n\t" : ",\n\t");
    print(params[i]);
  }
  add("\n)");
}

void Printer::print(const Registers &registers) {
  add(".reg ");
  if (!registers.vector.empty()) {
    add(registers.vector).add(" ");
  }
  add(registers.type);
  for (size_t i = 0; i < registers.items.size(); ++i) {
    const Registers::Item &item = registers.items[i];
    add(i == 0 ? " " : ", ").add(item.name);
    if (item.count >= 0) {
      add("<").add(uint64_t(item.count)).add(">");
    }
  }
  add(";");
}

void Printer::print(const Statement &statement, const Function &function) {
  switch (statement.kind) {
  case Statement::Kind::Instruction:
    add("\t");
    print(function.instructions[statement.index]);
    break;
  case Statement::Kind::Label:
    add(statement.text).add(":");
    break;
  case Statement::Kind::Open:
    add("\t{");
    break;
  case Statement::Kind::Close:
    add("\t}");
    break;
  case Statement::Kind::Registers:
    add("\t");
    print(function.registers[statement.index]);
    break;
  case Statement::Kind::Variable:
    add("\t");
    print(function.variables[statement.index]);
    add(";");
    break;
  case Statement::Kind::Loc:
  case Statement::Kind::Pragma:
  case Statement::Kind::Raw:
    add("\t").add(statement.text);
    break;
  case Statement::Kind::BranchTargets:
    add("\t.branchtargets");
    for (size_t i = 0; i < statement.labels.size(); ++i) {
      add(i == 0 ? " " : ", ").add(statement.labels[i]);
    }
    add(";");
    break;
  }
  add("\n");
}

void Printer::print(const Function &function) {
  for (std::string_view linkage : function.linkage) {
    add(linkage).add(" ");
  }
  add(function.isEntry ? ".entry " : ".func ");
  if (!function.results.empty()) {
    printParams(function.results);
    add(" ");
  }
  add(function.name);
  printParams(function.params);
  for (const Directive &directive : function.directives) {
    add("\n").add(directive.name);
    for (size_t i = 0; i < directive.values.size(); ++i) {
      add(i == 0 ? " " : ", ").add(directive.values[i]);
    }
  }
  if (!function.hasBody) {
    add(";\n");
    return;
  }
  add("\n{\n");
  for (const Statement &statement : function.body) {
    print(statement, function);
  }
  add("}\n");
}

void Printer::print(const Module &module) {
  add(".version ").add(module.version).add("\n.target ");
  for (size_t i = 0; i < module.targets.size(); ++i) {
    add(i == 0 ? "" : ", ").add(module.targets[i]);
  }
  add("\n");
  if (module.addressSize) {
    add(".address_size ").add(module.addressSize).add("\n");
  }
  for (const Module::Item &item : module.items) {
    switch (item.kind) {
    case Module::Item::Kind::Variable:
      print(module.variables[item.index]);
      add(";\n");
      break;
    case Module::Item::Kind::Function:
      print(module.functions[item.index]);
      break;
    case Module::Item::Kind::Raw:
      add(item.text).add("\n");
      break;
    }
  }
}

std::string attn::sim::ptx::print(const Module &module) {
  Printer printer;
  printer.print(module);
  return printer.take();
}

std::string attn::sim::ptx::print(const Instruction &instruction) {
  Printer printer;
  printer.print(instruction);
  return printer.take();
}

std::string attn::sim::ptx::print(const Operand &operand) {
  Printer printer;
  printer.print(operand);
  return printer.take();
}
