// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_TARGET_NVXTOLLVM_H
#define ATTN_CODEGEN_TARGET_NVXTOLLVM_H

#include "attn/support/mlir_pch.h"

namespace attn::codegen {

/// Adds the patterns from `nvx` to inline assembly and intrinsics. Types must
/// already be LLVM's.
void populateNvxToLLVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_NVXTOLLVM_H
