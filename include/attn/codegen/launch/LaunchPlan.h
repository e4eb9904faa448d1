// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H

#include "attn/codegen/launch/CopyBox.h"
#include "attn/codegen/launch/KernelParams.h"

namespace attn::codegen {

struct PlannedKernel {
  ws::KernelOp kernel;
  CopyBoxOf copyBox;
  llvm::SmallVector<Param> params;
  int64_t threads;
};

/// The launch plan `name` as JSON text (format: attn/runtime, launch plan
/// version 1) for `chip`: the arguments that the kernels have in common, the
/// checks on them of any kernel, and one variant of one launch for each kernel.
/// The last takes what the conditions of the others leave. Work items that are
/// not computed from sizes are an error.
mlir::FailureOr<std::string>
buildLaunchPlan(llvm::StringRef name, llvm::StringRef chip,
                llvm::ArrayRef<PlannedKernel> kernels);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHPLAN_H
