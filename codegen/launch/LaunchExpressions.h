// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a kernel's checks of its launches (`attn.checks`) to their form in a
// launch plan. Expressions that the runtime could not read are refused here, by
// name.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

/// The largest nesting of expressions; an operand is one level deeper than its
/// operator.
constexpr int mostLaunchDepth = 32;

/// Returns the depth of the deepest expression in a part of a plan.
int depthOf(const llvm::json::Value &value);

/// The largest number of checks of a plan, and of words of a list in an
/// expression.
constexpr size_t mostLaunchList = 256;

/// Whether `name` is that of a tensor's size.
bool isSizeName(ws::KernelOp kernel, llvm::StringRef name);

/// Whether `name` is that of a tensor's size, or of an integer argument.
bool isLaunchName(ws::KernelOp kernel, llvm::StringRef name);

/// Returns the plan's checks of `kernel`, whose number of work items is
/// `items`. It is an error if the kernel has no list (an empty list has no
/// checks), or if a check is not [expression, i64, message] with known
/// operators, sizes and integer arguments.
mlir::FailureOr<llvm::json::Array> launchChecks(ws::KernelOp kernel,
                                                const llvm::json::Value &items);

/// Returns the description of the kernel's mask in the plan: `first` and
/// `last`, the keys that query `i` sees, each unless that side is open; and the
/// `bounds` that launches provide, with the name and the smallest value of
/// each. Anything else is an error.
mlir::FailureOr<llvm::json::Object> seenKeysOf(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H
