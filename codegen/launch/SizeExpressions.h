// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars of a kernel as expressions of its launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_SIZEEXPRESSIONS_H
#define ATTN_CODEGEN_LAUNCH_SIZEEXPRESSIONS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

/// The names that a plan gives to the results of a `tile.cut`.
constexpr llvm::StringLiteral wholeName = "cut.whole", partsName = "cut.parts";

/// A size's name, or the number that it is.
llvm::json::Value nameOrNumber(llvm::StringRef text);

/// Returns `value`, 32-bit arithmetic on sizes, scalar arguments and constants,
/// as an expression that the runtime evaluates. The runtime computes in 64
/// bits: OverflowChecks.h refuses launches where 32 do not suffice. An error at
/// the op: another op, one that the runtime would compute otherwise, as it
/// rounds quotients down and has no unsigned numbers, and one whose expression
/// is too long.
mlir::FailureOr<llvm::json::Value> sizeExpression(ws::KernelOp kernel,
                                                  mlir::Value value);

/// The extents of the work loops: row blocks, heads, batches.
mlir::FailureOr<llvm::SmallVector<llvm::json::Value>>
itemExtents(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_SIZEEXPRESSIONS_H
