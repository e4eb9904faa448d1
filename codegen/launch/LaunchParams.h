// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of a kernel in its launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHPARAMS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHPARAMS_H

#include "attn/codegen/launch/CopyBox.h"
#include "attn/codegen/launch/KernelParams.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

/// Returns the plan's word for the type of a scalar or an element.
std::string plannedType(mlir::Type type);

/// Returns the values that the runtime passes for `params`, in order.
llvm::json::Array launchParams(ws::KernelOp kernel, const CopyBoxOf &copyBox,
                               llvm::ArrayRef<Param> params);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHPARAMS_H
