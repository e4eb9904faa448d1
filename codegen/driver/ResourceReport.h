// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine resources of compiled kernels, as reported by the launch plan and
// the assembler.
#ifndef ATTN_CODEGEN_DRIVER_RESOURCEREPORT_H
#define ATTN_CODEGEN_DRIVER_RESOURCEREPORT_H

#include "attn/support/mlir_pch.h"

namespace attn {

/// Calls `visit` with the name of each kernel and the assembler's report on it.
void forEachAssembly(
    mlir::gpu::BinaryOp binary,
    llvm::function_ref<void(llvm::StringRef, mlir::DictionaryAttr)> visit);

/// Returns the assembler's report on a kernel, or null.
mlir::DictionaryAttr findAssembly(mlir::gpu::BinaryOp binary,
                                  llvm::StringRef kernel);

/// Returns the number of the assembler's warnings C75xx.
int64_t countSerialized(mlir::gpu::BinaryOp binary);

/// Returns the rung of the schedule table that the launch plan names.
int64_t rungOf(mlir::gpu::BinaryOp binary);

/// Prints for each kernel the registers of each role, shared memory, barriers,
/// and spills. Prints only numbers that the launch plan or the assembler
/// reported.
void printResources(mlir::gpu::BinaryOp binary, llvm::raw_ostream &stream);

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_RESOURCEREPORT_H
