// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles from compiled modules.
#ifndef ATTN_CODEGEN_DRIVER_BUNDLEBYTES_H
#define ATTN_CODEGEN_DRIVER_BUNDLEBYTES_H

#include "attn/support/mlir_pch.h"

namespace attn {

/// Returns the object of a format in `binary`, "" if it has none.
std::string objectOf(mlir::gpu::BinaryOp binary,
                     mlir::gpu::CompilationTarget format);

/// Returns the bytes of a bundle with the JSON of a plan, and the PTX and
/// machine code in `binary`, which may be null.
std::string bundleBytes(std::string plan, mlir::gpu::BinaryOp binary);

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_BUNDLEBYTES_H
