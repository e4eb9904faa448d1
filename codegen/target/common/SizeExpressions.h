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

/// Returns `value`, integer arithmetic on sizes, scalar arguments, the results
/// of `tile.cut` and constants, as an expression that the runtime evaluates. Of
/// other values: an error at the op that makes them.
mlir::FailureOr<llvm::json::Value> sizeExpression(ws::KernelOp kernel,
                                                  mlir::Value value);

/// The work items of a launch, each of them for all CTAs of a cluster, before
/// any is cut: 1 if no role has a `ws.work_loop`.
mlir::FailureOr<llvm::json::Value> countItems(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_COMMON_SIZEEXPRESSIONS_H
