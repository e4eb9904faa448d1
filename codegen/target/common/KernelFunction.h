// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that a kernel becomes once its ops are instructions.
#ifndef ATTN_CODEGEN_KERNELFUNCTION_H
#define ATTN_CODEGEN_KERNELFUNCTION_H

#include "ParamValues.h"
#include "RolePlacement.h"
#include "Target.h"

namespace attn::codegen {

/// Adds a function to `module` in which each warp runs the program of its role,
/// with the ops of the kernel, which is left without them.
void buildKernelFunction(ws::KernelOp kernel, mlir::gpu::GPUModuleOp module,
                         const ParamValues &params,
                         const RolePlacement &placement, const Target &chip);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_KERNELFUNCTION_H
