// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of the simulated machine, and kernels decoded with them.

#ifndef ATTN_SIM_MACHINE_INSTRUCTION_SET_H
#define ATTN_SIM_MACHINE_INSTRUCTION_SET_H

#include "core/program.h"

namespace attn::sim {

/// Decodes kernel `name` of `module`; the only one if `name` is empty.
bool decode(std::shared_ptr<const ptx::Module> module, std::string_view name,
            Program &program, Diagnostic &diagnostic);

} // namespace attn::sim

#endif // ATTN_SIM_MACHINE_INSTRUCTION_SET_H
