// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses in a kernel's shared memory, which is one variable.
//
// In a loop the variable's address is computed once per iteration
// (`nvx.smem_base`, the first op of the loop's body): all addresses in the body
// are based on it.
#ifndef ATTN_CODEGEN_SHAREDMEMORY_H
#define ATTN_CODEGEN_SHAREDMEMORY_H

#include "Arithmetic.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// The name of the kernel's variable in shared memory.
std::string smemName(ws::KernelOp kernel);

/// Declares the kernel's variable at `builder`.
void declareSmem(mlir::OpBuilder &builder, ws::KernelOp kernel);

/// Inserts an `nvx.smem_base` into each `scf.for` of the kernel's roles.
void takeSmemBases(ws::KernelOp kernel);

/// Returns the address, i32, of the byte at `offset`, for use at `builder`.
mlir::Value smemAddress(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value offset);

/// Returns the offset of a piece of a hold.
mlir::Value pieceOffset(const Arithmetic &emit, ws::HoldOp hold,
                        mlir::Value piece);

/// Returns a pointer to an address in shared memory.
mlir::Value sharedPointer(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value address);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_SHAREDMEMORY_H
