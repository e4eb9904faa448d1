// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars of a kernel as expressions of its launch plan.
#ifndef ATTN_CODEGEN_TARGET_COMMON_SIZEEXPRESSIONS_H
#define ATTN_CODEGEN_TARGET_COMMON_SIZEEXPRESSIONS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

/// The names that a plan gives to the results of a `tile.cut`.
constexpr llvm::StringLiteral wholeName = "cut.whole", partsName = "cut.parts";

/// A size's name, or the number that it is.
llvm::json::Value nameOrNumber(llvm::StringRef text);

/// Returns `value`, integer arithmetic on sizes, scalar arguments and
/// constants, as an expression that the runtime evaluates. Sizes are from 0 to
/// 2^31 - 1, and so has to be what is computed in 32 bits. An error at the op:
/// another op, and one that the runtime would compute otherwise, as it rounds
/// quotients down and has no unsigned numbers.
mlir::FailureOr<llvm::json::Value> sizeExpression(ws::KernelOp kernel,
                                                  mlir::Value value);

/// The work items of a launch, each of them for all CTAs of a cluster, before
/// any is cut: the product of a work loop's extents.
mlir::FailureOr<llvm::json::Value> countItems(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_COMMON_SIZEEXPRESSIONS_H
