// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's own checks of its launches (`attn.checks`) as a launch plan has
// them. What the runtime could not read is refused here, by name.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

/// The deepest that expressions are nested; an operand lies one deeper than its
/// operator.
constexpr int mostLaunchDepth = 32;

/// How deep the deepest expression in a part of a plan is.
int depthOf(const llvm::json::Value &value);

/// The most checks of a plan, and the most words of a list in an expression.
constexpr size_t mostLaunchList = 256;

/// Is `name` that of a tensor's size?
bool isSizeName(ws::KernelOp kernel, llvm::StringRef name);

/// Is `name` that of a tensor's size, or of an argument that is an integer?
bool isLaunchName(ws::KernelOp kernel, llvm::StringRef name);

/// Returns the plan's checks of `kernel`, whose number of work items is
/// `items`. An error if the kernel has none (an empty list is one that demands
/// nothing), or one that is not [expression, i64, message], with known
/// operators, sizes and integer arguments.
mlir::FailureOr<llvm::json::Array> launchChecks(ws::KernelOp kernel,
                                                const llvm::json::Value &items);

/// Returns what the plan of `kernel` says of its mask: `first` and `last`, the
/// keys that query `i` sees, each where the side is not open; and the `bounds`
/// that launches give, with a name and the least value of each. An error if
/// the kernel has anything else there.
mlir::FailureOr<llvm::json::Object> seenKeysOf(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H
