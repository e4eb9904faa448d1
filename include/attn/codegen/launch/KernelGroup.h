// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a launch, and the launches of a call.
#ifndef ATTN_CODEGEN_LAUNCH_KERNELGROUP_H
#define ATTN_CODEGEN_LAUNCH_KERNELGROUP_H

#include "attn/dialect/Launch.h"

namespace attn::codegen {

struct KernelGroup {
  llvm::StringRef name;
  llvm::SmallVector<ws::KernelOp>
      kernels; // in the order in which they are tried
};

/// The launches of one call, which share a launch plan.
struct KernelCall {
  llvm::StringRef name;
  llvm::SmallVector<KernelGroup> launches; // in order
  /// Null if there is one launch.
  launch::SequenceOp sequence;
};

/// Groups the kernels of a module by their `variant`; one without is a group of
/// its own. Groups are launches of one call if a `launch.sequence` says so.
///
/// Checks that the kernels of a group have the same arguments and problem, and
/// that each is reached by some launch and every launch by one; and that a
/// sequence names groups that no other one has, for one machine. A violation is
/// an error that names both kernels.
mlir::FailureOr<llvm::SmallVector<KernelCall>>
groupKernels(mlir::ModuleOp module);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_KERNELGROUP_H
