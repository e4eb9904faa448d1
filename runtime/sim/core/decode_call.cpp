// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of device functions: the function is decoded in place of each call. Its
// parameters are the caller's .param variables, which lie in local memory, and
// it returns by branching behind itself. So there is no recursion.
//
// A call becomes: a branch behind all this for lanes that do not take part, the
// function's instructions, and one that does nothing.

#include "core/decoder.h"

#include <algorithm>

using namespace attn::sim;

static constexpr unsigned kMaxCallDepth = 16;
static constexpr uint32_t kMaxInlined = 1 << 20;

static const ptx::Operand *findCallee(const ptx::Instruction &call) {
  for (const ptx::Operand &operand : call.operands) {
    if (operand.kind == ptx::Operand::Kind::Name) {
      return &operand;
    }
  }
  return nullptr;
}

/// The function that `call` names, or null after reporting an error.
static const ptx::Function *findFunction(const ptx::Module &module,
                                         const ptx::Operand *name) {
  for (const ptx::Function &function : module.functions) {
    if (name && function.name == name->name && function.hasBody &&
        !function.isEntry) {
      return &function;
    }
  }
  return nullptr;
}

/// The instructions that `function` takes, `depth` calls deep; 0 if it calls
/// what cannot be called.
static uint32_t countInlined(const ptx::Module &module,
                             const ptx::Function &function, unsigned depth) {
  uint32_t count = 0;
  for (const ptx::Instruction &instruction : function.instructions) {
    ++count;
    if (instruction.opcode != "call") {
      continue;
    }
    const ptx::Function *callee = findFunction(module, findCallee(instruction));
    uint32_t more = callee && depth < kMaxCallDepth
                        ? countInlined(module, *callee, depth + 1)
                        : 0;
    count += more + 1;
    if (more == 0 || count > kMaxInlined) {
      return 0;
    }
  }
  return count;
}

uint32_t Decoder::countCall(const ptx::Instruction &call) {
  const ptx::Operand *name = findCallee(call);
  const ptx::Function *callee = findFunction(module, name);
  if (!callee) {
    fail(call.at, name ? "no function '" + std::string(name->name) +
                             "' with a body: only those can be called"
                       : "expected the name of a function");
    return 0;
  }
  uint32_t count = countInlined(module, *callee, 1);
  if (count == 0) {
    fail(call.at, "'" + std::string(name->name) +
                      "' calls itself, too much, or what cannot be called");
    return 0;
  }
  return count + 2;
}

/// Gives the callee's variables the places of the caller's.
bool Decoder::bindVariables(const std::vector<ptx::Variable> &variables,
                            const ptx::Operand *list, Decoder &callee) {
  size_t given = list ? list->elements.size() : 0;
  if (given != variables.size()) {
    return fail(list ? list->at : function.at,
                "expected " + std::to_string(variables.size()) +
                    " operands in the list, got " + std::to_string(given));
  }
  for (size_t i = 0; i < given; ++i) {
    const SymbolAddress *place = findVariable(list->elements[i].name);
    if (!place || place->space != SymbolAddress::Space::Local) {
      return fail(list->elements[i].at, "expected a .param variable");
    }
    callee.bound[variables[i].name] = *place;
  }
  return true;
}

static Handler branchHandler(const OpcodeTable &table) {
  ptx::Instruction branch;
  branch.opcode = "bra";
  Match match;
  std::string problem;
  return table.findRow(branch, match, problem) ? match.row->handler : nullptr;
}

/// Takes what `use` says of the guard.
bool Decoder::appendBranch(Inst inst, uint32_t target) {
  inst.run = branchHandler(table);
  inst.imm = target;
  program.code.push_back(inst);
  noteGuard(inst);
  use.fallsThrough = use.isGuarded;
  use.targets = {target};
  uses.push_back(std::move(use));
  use = {};
  return true;
}

bool Decoder::decodeCall(const ptx::Instruction &call) {
  const auto &operands = call.operands;
  using Kind = ptx::Operand::Kind;
  const bool hasResult = !operands.empty() && operands[0].kind == Kind::List;
  size_t name = hasResult ? 1 : 0;
  const ptx::Function *target = findFunction(module, findCallee(call));
  const ptx::Operand *params =
      operands.size() > name + 1 && operands[name + 1].kind == Kind::List
          ? &operands[name + 1]
          : nullptr;
  Decoder callee(table, module, *target, program, diagnostic);
  if (!bindVariables(target->results, hasResult ? &operands[0] : nullptr,
                     callee) ||
      !bindVariables(target->params, params, callee)) {
    return false;
  }
  const uint32_t end = uint32_t(program.code.size()) + countCall(call) - 1;
  use = {};
  Inst enter;
  enter.origin = addOrigin(call);
  if (!call.guard.empty()) {
    ptx::Operand guard;
    guard.at = call.at;
    guard.name = call.guard;
    if (!predicate(guard, enter.guard, enter.guardNegated)) {
      return false;
    }
    enter.guardNegated = !call.guardNegated;
  }
  // Without a guard nobody leaves: to the next instruction.
  uint32_t next = uint32_t(program.code.size()) + 1;
  appendBranch(enter, call.guard.empty() ? next : end);
  callee.returnTarget = end;
  callee.sharedEnd = sharedEnd;
  if (!callee.readScopes() || !callee.decodeBody()) {
    return false;
  }
  if (callee.sharedEnd != callee.moduleSharedEnd) {
    return fail(target->at, "shared variables of called functions are not "
                            "supported");
  }
  uses.insert(uses.end(), callee.uses.begin(), callee.uses.end());
  Inst land;
  land.origin = enter.origin;
  return appendBranch(land, end + 1);
}
