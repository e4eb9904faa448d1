// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pattern sets and steps of lowering a kernel module to the llvm dialect.
#ifndef ATTN_CODEGEN_LOWERING_H
#define ATTN_CODEGEN_LOWERING_H

#include "attn/support/mlir_pch.h"

namespace attn::codegen {

/// Lowers `nvx.exp2_poly` to `arith` and `math`.
void populateExp2PolyPatterns(mlir::RewritePatternSet &patterns);

/// Lowers `math` ops for which LLVM's generic intrinsic does not give the
/// single instruction, and reductions and slices of vectors.
void populateMathToNVVMPatterns(mlir::RewritePatternSet &patterns);

/// Lowers `math` ops without `afn` for which the single instruction is not
/// accurate enough.
void populatePreciseMathPatterns(mlir::RewritePatternSet &patterns);

/// Reports each op of `math` that the target has no instruction for.
mlir::LogicalResult verifyMath(mlir::gpu::GPUModuleOp module);

/// Reports the first op of `llvm` whose constant index is not in its vector.
mlir::LogicalResult verifyVectorPlaces(mlir::gpu::GPUModuleOp module);

/// Lowers everything in a kernel module to `llvm` and `nvvm`; idempotent.
mlir::LogicalResult lowerToLLVM(mlir::gpu::GPUModuleOp module);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LOWERING_H
