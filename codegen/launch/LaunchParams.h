// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of a kernel in its launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHPARAMS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHPARAMS_H

#include "attn/codegen/launch/CopyBox.h"
#include "attn/codegen/launch/KernelParams.h"
#include "attn/dialect/Launch.h"

namespace attn::codegen {

/// Returns the values that the runtime passes for `params`, in order.
mlir::ArrayAttr launchParams(ws::KernelOp kernel, const CopyBoxOf &copyBox,
                             llvm::ArrayRef<Param> params);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHPARAMS_H
