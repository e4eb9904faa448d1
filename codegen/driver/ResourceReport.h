// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the launch plan and the assembler say that compiled kernels take of the
// machine.
#ifndef ATTN_TOOLS_RESOURCEREPORT_H
#define ATTN_TOOLS_RESOURCEREPORT_H

#include "attn/support/mlir_pch.h"
#include "llvm/Support/JSON.h"

namespace attn {

/// The variants of a launch plan, without what is no object.
llvm::SmallVector<llvm::json::Object *> variantsOf(llvm::json::Object &plan);

/// The name of the kernel that a variant launches, or "".
llvm::StringRef kernelOf(llvm::json::Object &variant);

/// Calls `visit` with the name of each kernel and what the assembler said of
/// it.
void forEachAssembly(
    mlir::gpu::BinaryOp binary,
    llvm::function_ref<void(llvm::StringRef, mlir::DictionaryAttr)> visit);

/// What the assembler said of a kernel, or null.
mlir::DictionaryAttr findAssembly(mlir::gpu::BinaryOp binary,
                                  llvm::StringRef kernel);

/// How many warnings C75xx the assembler had.
int64_t countSerialized(mlir::gpu::BinaryOp binary);

/// The rung of the schedule table that the launch plan names.
int64_t rungOf(mlir::gpu::BinaryOp binary);

/// Prints, of each kernel, registers a role, shared memory, barriers, and what
/// the assembler spilled. Prints nothing that the launch plan and the assembler
/// did not report.
void printResources(mlir::gpu::BinaryOp binary, llvm::raw_ostream &stream);

} // namespace attn

#endif // ATTN_TOOLS_RESOURCEREPORT_H
