// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates a lowered kernel module to PTX text, through LLVM's NVPTX backend.
#ifndef ATTN_CODEGEN_PTXWRITER_H
#define ATTN_CODEGEN_PTXWRITER_H

#include "attn/support/mlir_pch.h"

namespace attn::codegen {

struct PtxOptions {
  /// The folder for LLVM IR that fails to compile; empty for the temporary
  /// folder.
  std::string reproducerDirectory;
};

/// The module must contain only `llvm` and `nvvm` and have one `#nvvm.target`.
/// Errors of LLVM, including fatal ones, become diagnostics at the module.
mlir::FailureOr<std::string> translateToPTX(mlir::gpu::GPUModuleOp module,
                                            const PtxOptions &options = {});

} // namespace attn::codegen

#endif // ATTN_CODEGEN_PTXWRITER_H
