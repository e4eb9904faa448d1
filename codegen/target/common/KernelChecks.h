// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The preconditions and postconditions of the passes from `ws` to instructions,
// beyond the verifiers. Every violation is an error at the op.
#ifndef ATTN_CODEGEN_KERNELCHECKS_H
#define ATTN_CODEGEN_KERNELCHECKS_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

class Target;

/// attn-lower-channels has a lowering for the kernel.
mlir::LogicalResult checkChannelsLowerable(ws::KernelOp kernel);
/// attn-lower-channels has lowered everything that synchronizes.
mlir::LogicalResult checkChannelsLowered(ws::KernelOp kernel);
/// attn-verify-channels finds the slots, pieces and barriers that it reads.
mlir::LogicalResult checkBarriersReadable(ws::KernelOp kernel);
/// attn-lower-to-nvvm has a lowering for the kernel.
mlir::LogicalResult checkKernelLowerable(ws::KernelOp kernel,
                                         const Target &chip);
/// attn-lower-to-nvvm has left no op of the higher levels.
mlir::LogicalResult checkKernelLowered(mlir::gpu::GPUModuleOp module);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_KERNELCHECKS_H
