// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RESOURCEREPORT_H
#define ATTN_TOOLS_RESOURCEREPORT_H

#include "attn/support/mlir_pch.h"

namespace attn {

/// Prints what a compiled kernel takes of the machine: registers a role, shared
/// memory, barriers, and what the assembler spilled. Prints nothing that the
/// launch plan and the assembler did not report.
void printResources(mlir::gpu::BinaryOp binary, llvm::raw_ostream &stream);

} // namespace attn

#endif // ATTN_TOOLS_RESOURCEREPORT_H
