// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The declarations of a function: the addresses of its parameters and
// variables, its registers and labels, and its directives.

#ifndef ATTN_SIM_CORE_DECLARATIONS_H
#define ATTN_SIM_CORE_DECLARATIONS_H

#include "core/scopes.h"

#include <map>

namespace attn::sim {

/// A function that is decoded in place of a call.
struct InlinedCall {
  /// The addresses of its parameters and results.
  std::map<std::string_view, SymbolAddress> bound;
  /// The return target; kNone for a kernel.
  uint32_t returnTarget = kNone;
};

/// "'%r1'".
std::string quote(std::string_view name);

class Declarations {
public:
  Declarations(const ptx::Module &module, const ptx::Function &function,
               const InlinedCall &call, Scopes &scopes, Program &program,
               Diagnostic &diagnostic)
      : module(module), function(function), call(call), scopes(scopes),
        program(program), diagnostic(diagnostic) {}

  /// Collects the declarations of all scopes; labels may be used before their
  /// definition. Returns false after reporting an error.
  bool collect();
  /// Whether the function has shared variables of its own.
  bool hasShared() const { return sharedEnd != moduleSharedEnd; }

private:
  bool fail(Position at, const std::string &message) {
    return diagnostic.fail(at, message);
  }
  bool layOutParams();
  bool layOutShared();
  bool readDirectives();
  bool readStatement(const ptx::Statement &statement, uint32_t &count);
  bool declare(const ptx::Registers &registers, Position at);
  bool declare(const ptx::Variable &variable);
  bool checkNoInitializer(const ptx::Variable &variable);
  bool placeShared(const ptx::Variable &variable, SymbolAddress &symbol);

  const ptx::Module &module;
  const ptx::Function &function;
  const InlinedCall &call;
  Scopes &scopes;
  Program &program;
  Diagnostic &diagnostic;
  uint32_t sharedEnd = kSharedBase;
  uint32_t moduleSharedEnd = kSharedBase;
  /// The largest alignment of the extern shared arrays.
  uint64_t dynamicAlign = 1;
  std::vector<std::string_view> dynamicNames;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_DECLARATIONS_H
