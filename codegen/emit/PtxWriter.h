// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lowered kernel module to PTX text, through LLVM's NVPTX backend.
#ifndef ATTN_CODEGEN_PTXWRITER_H
#define ATTN_CODEGEN_PTXWRITER_H

#include "attn/support/mlir_pch.h"

namespace attn::codegen {

struct PtxOptions {
  /// Where LLVM IR goes that fails to compile; empty: the temporary directory.
  std::string reproducerDirectory;
};

/// The module holds `llvm` and `nvvm` alone and has one `#nvvm.target`. Errors
/// of LLVM, fatal ones too, are diagnostics at the module.
mlir::FailureOr<std::string> translateToPTX(mlir::gpu::GPUModuleOp module,
                                            const PtxOptions &options = {});

} // namespace attn::codegen

#endif // ATTN_CODEGEN_PTXWRITER_H
