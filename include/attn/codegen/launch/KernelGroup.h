// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of one launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_KERNELGROUP_H
#define ATTN_CODEGEN_LAUNCH_KERNELGROUP_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

struct KernelGroup {
  llvm::StringRef name;
  llvm::SmallVector<ws::KernelOp>
      kernels; // in the order in which they are tried
};

/// Groups the kernels of a module by their `variant`; one without is a group of
/// its own.
llvm::SmallVector<KernelGroup> groupKernels(mlir::ModuleOp module);

/// Checks that the kernels have the same arguments and problem, and that each
/// is reached by some launch and every launch by one. A violation is an error
/// that names both kernels.
mlir::LogicalResult verifyGroup(const KernelGroup &group);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_KERNELGROUP_H
