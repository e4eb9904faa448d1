// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladders of a module that becomes several kernels: each kernel climbs its
// own.
#ifndef ATTN_CODEGEN_DRIVER_KERNELLADDERS_H
#define ATTN_CODEGEN_DRIVER_KERNELLADDERS_H

#include "attn/codegen/driver/Compiler.h"

namespace attn {

/// Whether `module` is on the level of tensors and becomes several kernels
/// whose schedules the table chooses.
bool makesSeveralKernels(mlir::ModuleOp module);

/// Compiles such a module in place. Kernels in which the assembler loses
/// something move to their next rung, until there is no loss or no such rung;
/// the result is the attempt that lost least.
mlir::LogicalResult climbEach(mlir::ModuleOp module,
                              const CompileOptions &options,
                              CompileRung compileRung);

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_KERNELLADDERS_H
