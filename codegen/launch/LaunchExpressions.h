// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a kernel's checks of its launches (`attn.checks`) to their form in a
// launch plan. Expressions that the runtime could not read are refused here, by
// name.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H

#include "attn/dialect/Launch.h"

namespace attn::codegen {

/// The keys that query `i` sees under the mask. A side without an expression is
/// open.
struct KeyRange {
  mlir::Attribute first, last;
};

/// Whether `name` is that of a tensor's size.
bool isSizeName(ws::KernelOp kernel, llvm::StringRef name);

/// Whether `name` is that of a tensor's size, or of an integer argument.
bool isLaunchName(ws::KernelOp kernel, llvm::StringRef name);

/// Returns the plan's checks of `kernel`, whose number of work items is
/// `items`. It is an error if the kernel has no list (an empty list has no
/// checks), or if an entry is not a `LaunchCheck` of known sizes and integer
/// arguments.
mlir::FailureOr<llvm::SmallVector<LaunchCheck>>
launchChecks(ws::KernelOp kernel, mlir::Attribute items);

/// Returns the description of the kernel's mask in the plan. It is an error if
/// the kernel describes anything else than `first` and `last`, or lacks an
/// argument for a bound of its problem.
mlir::FailureOr<KeyRange> seenKeysOf(ws::KernelOp kernel);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHEXPRESSIONS_H
