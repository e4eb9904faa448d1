// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON of a launch plan.
#ifndef ATTN_CODEGEN_EMIT_PLANWRITER_H
#define ATTN_CODEGEN_EMIT_PLANWRITER_H

#include "attn/dialect/Launch.h"

namespace attn::codegen {

/// Returns the assembler's report on a kernel, or null.
using AssemblyOf = llvm::function_ref<mlir::DictionaryAttr(llvm::StringRef)>;

/// Returns the launch plan as the JSON text that the runtime reads
/// (docs/launch-plan.md). Nothing else in the compiler knows its keys.
std::string writePlan(launch::PlanOp plan, AssemblyOf assemblyOf);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_PLANWRITER_H
