// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_LAUNCHPLAN_H
#define ATTN_CODEGEN_LAUNCHPLAN_H

#include "KernelParams.h"

namespace attn::codegen {

/// The launch plan of a kernel as JSON text (format: attn/runtime, launch plan
/// version 1): its arguments, checks on them, and one variant of one launch.
std::string buildLaunchPlan(ws::KernelOp kernel, llvm::ArrayRef<Param> params,
                            int64_t threads);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCHPLAN_H
