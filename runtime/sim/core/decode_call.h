// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of device functions: the function is decoded in place of each call. Its
// parameters are the caller's .param variables in local memory, and it returns
// by branching past itself. So recursion is impossible.

#ifndef ATTN_SIM_CORE_DECODE_CALL_H
#define ATTN_SIM_CORE_DECODE_CALL_H

#include "core/declarations.h"

namespace attn::sim {

/// The name of the function that an instruction calls, or null.
const ptx::Operand *findCallee(const ptx::Instruction &call);

/// The function with a body that `name` names, or null.
const ptx::Function *findFunction(const ptx::Module &module,
                                  const ptx::Operand *name);

/// Returns the number of instructions of a call; 0 after reporting an error.
uint32_t countCall(const ptx::Module &module, const ptx::Instruction &call,
                   Diagnostic &diagnostic);

/// Gives the callee's parameters and results the addresses of the caller's
/// variables. Returns false after reporting an error.
bool bindCall(const ptx::Instruction &call, const ptx::Function &callee,
              const Scopes &caller, InlinedCall &inlined,
              Diagnostic &diagnostic);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_DECODE_CALL_H
