// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic that computes addresses, phases, coordinates, masks and
// branch conditions: constants, compares, selections and whole operations.

#include "collector.h"
#include "slices.h"

#include <algorithm>
#include <array>

using namespace attn::mutation;
using Operand = attn::sim::ptx::Operand;

/// By how much a constant is changed: addresses and masks of low bits by 16,
/// the field in a descriptor's upper word by one, everything else by one.
static int64_t findStep(Role role, const Operand &operand) {
  int64_t value = int64_t(operand.bits);
  if (role == Role::Descriptor && value >= 65536 && value % 65536 == 0) {
    return 65536;
  }
  return std::abs(value) >= 16 && value % 8 == 0 ? 16 : 1;
}

static void addConstants(Collector &collector, size_t statement, Role role) {
  const ptx::Instruction &original = *collector.code[statement].instruction;
  for (size_t i = 1; i < original.operands.size(); ++i) {
    if (original.operands[i].kind != Operand::Kind::Integer) {
      continue;
    }
    int64_t step = findStep(role, original.operands[i]);
    for (int64_t delta : {-step, step}) {
      Draft draft(original);
      draft.add(draft.get().operands[i], delta);
      collector.change("operand" + std::to_string(i) + (delta < 0 ? "" : "+") +
                           std::to_string(delta),
                       draft);
    }
  }
}

static void addCompares(Collector &collector, size_t statement) {
  struct Compare {
    std::string_view original;
    std::string_view shifted;
    std::string_view negated;
  };
  static constexpr Compare kCompares[] = {
      {".lt", ".le", ".ge"}, {".le", ".lt", ".gt"}, {".gt", ".ge", ".le"},
      {".ge", ".gt", ".lt"}, {".eq", "", ".ne"},    {".ne", "", ".eq"}};
  const ptx::Instruction &original = *collector.code[statement].instruction;
  for (const Compare &compare : kCompares) {
    if (original.modifiers[0] != compare.original) {
      continue;
    }
    for (bool shift : {true, false}) {
      Draft draft(original);
      draft.get().modifiers[0] = shift ? compare.shifted : compare.negated;
      if (!draft.get().modifiers[0].empty()) {
        collector.change(shift ? "compare" : "negate", draft);
      }
    }
  }
}

static void addExchange(Collector &collector, size_t statement) {
  Draft draft(*collector.code[statement].instruction);
  std::swap(draft.get().operands[1], draft.get().operands[2]);
  collector.change("exchange", draft);
}

/// Replaces the result by the first source.
static void addSkip(Collector &collector, size_t statement) {
  static constexpr std::array<std::string_view, 12> kOpcodes = {
      "add", "sub", "mul", "shl", "shr", "and",
      "or",  "xor", "not", "bfe", "min", "max"};
  const ptx::Instruction &original = *collector.code[statement].instruction;
  bool isWide = collector.code[statement].has(".wide");
  bool isNeutral = original.operands.back().kind == Operand::Kind::Integer &&
                   original.operands.back().bits == 0;
  if (isWide || isNeutral ||
      std::find(kOpcodes.begin(), kOpcodes.end(), original.opcode) ==
          kOpcodes.end()) {
    return;
  }
  std::string_view type = original.modifiers.back();
  Draft draft(original);
  draft.get().opcode = "mov";
  draft.get().modifiers = {
      type == ".pred"                                      ? ".pred"
      : type == ".s64" || type == ".u64" || type == ".b64" ? ".b64"
      : type == ".b16" || type == ".s16" || type == ".u16" ? ".b16"
                                                           : ".b32"};
  draft.get().operands.resize(2);
  collector.change("skip", draft);
}

static void addValue(Collector &collector, size_t statement, Role role) {
  const Node &node = collector.code[statement];
  collector.beginSite(nameOf(role), statement);
  addConstants(collector, statement, role);
  if (node.is("setp")) {
    addCompares(collector, statement);
  } else if (node.is("selp")) {
    addExchange(collector, statement);
  }
  addSkip(collector, statement);
  // A stage or a phase that is not carried to the next step.
  bool isCarried = node.is("mov") &&
                   (role == Role::Phase || role == Role::Stage) &&
                   node.instruction->operands[1].kind == Operand::Kind::Name;
  if (isCarried) {
    collector.drop(statement, statement + 1);
  }
}

/// Whether addUpperWord() covers it: constants of descriptors.
static bool isDescriptorConstant(const Node &node, Role role) {
  return role == Role::Descriptor && node.inScope &&
         (node.is("mov") || node.is("setp"));
}

void attn::mutation::addValueMutants(Collector &collector) {
  const Code &code = collector.code;
  std::vector<Role> roles = findRoles(code);
  for (size_t i = 0; i < code.size(); ++i) {
    bool isArithmetic =
        !code[i].is("shfl") && !isDescriptorConstant(code[i], roles[i]);
    if (roles[i] != Role::None && isArithmetic) {
      addValue(collector, i, roles[i]);
    }
  }
}
