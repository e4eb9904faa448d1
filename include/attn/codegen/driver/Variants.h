// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variants of a launch plan, compiled one by one.
#ifndef ATTN_CODEGEN_DRIVER_VARIANTS_H
#define ATTN_CODEGEN_DRIVER_VARIANTS_H

#include "attn/codegen/driver/Compiler.h"

namespace attn {

/// Whether the kernels of `module`, which is past the stage Ws, are variants of
/// one plan that can be compiled one by one: no function, captured tensor,
/// dropout or sink adds to the registers that the schedule table was tested
/// with, so that no rung of the ladder is chosen for all of them together.
bool areSeparable(mlir::ModuleOp module);

/// Returns the JSON of the launch plan of `module`, which is past the stage
/// Nvvm.
mlir::FailureOr<std::string> planOf(mlir::ModuleOp module);

/// Returns the bytes of a bundle with the launch plan of `module`, which is
/// past the stage Nvvm, and no kernels.
mlir::FailureOr<std::string> planBundleOf(mlir::ModuleOp module);

/// Compiles variant `index` of the plan of `module`, which is past the stage
/// Nvvm, as far as `last`: Ptx or Cubin. Returns the bytes of a bundle with the
/// plan and this kernel alone. Registers that the assembler spills are a
/// warning.
mlir::FailureOr<std::string> compileVariant(mlir::ModuleOp module,
                                            const CompileOptions &options,
                                            Stage last, size_t index);

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_VARIANTS_H
