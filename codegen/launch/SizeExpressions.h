// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts scalars of a kernel to expressions of its launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_SIZEEXPRESSIONS_H
#define ATTN_CODEGEN_LAUNCH_SIZEEXPRESSIONS_H

#include "attn/dialect/Launch.h"

namespace attn::codegen {

/// The plan's names for the results of a `tile.cut`.
constexpr llvm::StringLiteral wholeName = "cut.whole", partsName = "cut.parts";

/// Returns `value`, 32-bit arithmetic on sizes, scalar arguments and constants,
/// as an expression that the runtime evaluates. The runtime computes in 64
/// bits: OverflowChecks.h refuses launches for which 32 are not enough. Errors,
/// at the op: any other op, an op that the runtime would compute differently,
/// since it rounds quotients down and has no unsigned numbers, and an op whose
/// expression is too long.
mlir::FailureOr<mlir::Attribute> sizeExpression(ws::KernelOp kernel,
                                                mlir::Value value);

/// Returns the extents of the work loops: row blocks, heads, batches.
mlir::FailureOr<llvm::SmallVector<mlir::Attribute>>
itemExtents(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_SIZEEXPRESSIONS_H
