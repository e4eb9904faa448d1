// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the function of a kernel from its lowered ops.
#ifndef ATTN_CODEGEN_KERNELFUNCTION_H
#define ATTN_CODEGEN_KERNELFUNCTION_H

#include "ParamValues.h"
#include "RolePlacement.h"
#include "Target.h"

namespace attn::codegen {

/// Adds a function to `module` in which each warp runs the program of its role.
/// The ops of the kernel are moved into it.
void buildKernelFunction(ws::KernelOp kernel, mlir::gpu::GPUModuleOp module,
                         const ParamValues &params,
                         const RolePlacement &placement, const Target &chip);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_KERNELFUNCTION_H
