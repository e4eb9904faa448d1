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

/// The kernels from which one launch chooses. The last one runs if no condition
/// of the others holds.
using PlannedLaunch = llvm::SmallVector<PlannedKernel>;

/// Creates the `launch.plan` of the module `name` for `chip`: the arguments of
/// the kernels, the checks on them of any kernel, and one variant for each
/// choice of a kernel for each of the launches, which are those of `sequence`
/// if there are several. Work items that are not computed from sizes are an
/// error.
mlir::LogicalResult buildLaunchPlan(mlir::OpBuilder &builder,
                                    llvm::StringRef name, llvm::StringRef chip,
                                    llvm::ArrayRef<PlannedLaunch> launches,
                                    launch::SequenceOp sequence);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H
