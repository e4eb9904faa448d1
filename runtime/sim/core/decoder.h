// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one kernel of a module into a Program.

#ifndef ATTN_SIM_CORE_DECODER_H
#define ATTN_SIM_CORE_DECODER_H

#include "core/opcode_table.h"

namespace attn::sim {

/// Decodes kernel `name` of `module` with the instructions of `table`; the only
/// kernel if `name` is empty.
bool decodeKernel(const OpcodeTable &table,
                  std::shared_ptr<const ptx::Module> module,
                  std::string_view name, Program &program,
                  Diagnostic &diagnostic);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_DECODER_H
