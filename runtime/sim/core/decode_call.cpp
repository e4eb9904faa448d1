// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/decode_call.h"

using namespace attn::sim;

static constexpr unsigned kMaxCallDepth = 16;
static constexpr uint32_t kMaxInlined = 1 << 20;

const ptx::Operand *attn::sim::findCallee(const ptx::Instruction &call) {
  for (const ptx::Operand &operand : call.operands) {
    if (operand.kind == ptx::Operand::Kind::Name) {
      return &operand;
    }
  }
  return nullptr;
}

const ptx::Function *attn::sim::findFunction(const ptx::Module &module,
                                             const ptx::Operand *name) {
  for (const ptx::Function &function : module.functions) {
    if (name && function.name == name->name && function.hasBody &&
        !function.isEntry) {
      return &function;
    }
  }
  return nullptr;
}

/// Returns the number of instructions of `function`, with calls `depth` levels
/// deep; 0 if it calls a function that cannot be called.
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

uint32_t attn::sim::countCall(const ptx::Module &module,
                              const ptx::Instruction &call,
                              Diagnostic &diagnostic) {
  const ptx::Operand *name = findCallee(call);
  const ptx::Function *callee = findFunction(module, name);
  if (!callee) {
    diagnostic.fail(call.at, name
                                 ? "no function '" + std::string(name->name) +
                                       "' with a body: only those can be called"
                                 : "expected the name of a function");
    return 0;
  }
  uint32_t count = countInlined(module, *callee, 1);
  if (count == 0) {
    diagnostic.fail(call.at, "'" + std::string(name->name) +
                                 "' cannot be inlined: it is recursive, too "
                                 "large, or has a call that is not supported");
    return 0;
  }
  return count + 2;
}

/// Gives the callee's variables the addresses of the caller's.
static bool bindVariables(const std::vector<ptx::Variable> &variables,
                          const ptx::Operand *list, Position at,
                          const Scopes &caller, InlinedCall &inlined,
                          Diagnostic &diagnostic) {
  size_t given = list ? list->elements.size() : 0;
  if (given != variables.size()) {
    return diagnostic.fail(list ? list->at : at,
                           "expected " + std::to_string(variables.size()) +
                               " operands in the list, got " +
                               std::to_string(given));
  }
  for (size_t i = 0; i < given; ++i) {
    const SymbolAddress *place = caller.findVariable(list->elements[i].name);
    if (!place || place->space != SymbolAddress::Space::Local) {
      return diagnostic.fail(list->elements[i].at,
                             "expected a .param variable");
    }
    inlined.bound[variables[i].name] = *place;
  }
  return true;
}

bool attn::sim::bindCall(const ptx::Instruction &call,
                         const ptx::Function &callee, const Scopes &caller,
                         InlinedCall &inlined, Diagnostic &diagnostic) {
  using Kind = ptx::Operand::Kind;
  const auto &operands = call.operands;
  const bool hasResult = !operands.empty() && operands[0].kind == Kind::List;
  size_t name = hasResult ? 1 : 0;
  const ptx::Operand *params =
      operands.size() > name + 1 && operands[name + 1].kind == Kind::List
          ? &operands[name + 1]
          : nullptr;
  return bindVariables(callee.results, hasResult ? &operands[0] : nullptr,
                       call.at, caller, inlined, diagnostic) &&
         bindVariables(callee.params, params, call.at, caller, inlined,
                       diagnostic);
}
