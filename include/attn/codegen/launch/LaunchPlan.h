// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H

#include "attn/codegen/launch/CopyBox.h"
#include "attn/codegen/launch/KernelParams.h"
#include "attn/dialect/Launch.h"

namespace attn::codegen {

struct PlannedKernel {
  ws::KernelOp kernel;
  CopyBoxOf copyBox;
  llvm::SmallVector<Param> params;
  int64_t threads;
};

/// Creates the `launch.plan` of the module `name` for `chip`: the common
/// arguments of the kernels, the checks on them of any kernel, and one variant
/// with one launch for each kernel. The last one runs if no condition of the
/// others holds. Work items that are not computed from sizes are an error.
mlir::LogicalResult buildLaunchPlan(mlir::OpBuilder &builder,
                                    llvm::StringRef name, llvm::StringRef chip,
                                    llvm::ArrayRef<PlannedKernel> kernels);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H
