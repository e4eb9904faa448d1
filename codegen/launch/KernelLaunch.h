// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_LAUNCH_KERNELLAUNCH_H
#define ATTN_CODEGEN_LAUNCH_KERNELLAUNCH_H

#include "LaunchExpressions.h"
#include "LaunchItems.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/LaunchPlan.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/codegen/launch/Numerics.h"

namespace attn::codegen {

/// The launch of one kernel, as ops and expressions of the launch plan.
class KernelLaunch {
public:
  static mlir::FailureOr<KernelLaunch> of(const PlannedKernel &planned);

  ws::KernelOp getKernel() const { return kernel; }

  /// Preconditions that the runtime checks before each launch.
  mlir::FailureOr<llvm::SmallVector<LaunchCheck>> checks() const;
  /// Not zero if all bounds of the kernel's condition hold.
  mlir::Attribute condition() const;
  /// The bytes of workspace, and how many of them, at the beginning, are zero
  /// before and after a launch: the counter of work items and the counts of
  /// joined parts are reset at the end.
  mlir::Attribute workspace() const;
  int64_t zeroed() const;
  /// The bounds on the errors of O and LSE, or null.
  launch::NumericsAttr numerics() const;
  /// The bounds of a kernel of a backward pass, which has an argument for dO.
  std::optional<GradientNumerics> gradientNumerics() const;
  /// Whether the last wave of work items is cut into parts.
  bool isCut() const { return JoinLayout::isIn(kernel); }
  bool hasStamps() const { return bool(stamps()); }

  void createCutValues(mlir::OpBuilder &builder) const {
    items.createCutValues(builder, kernel.getLoc());
  }
  /// `isOnly`: the variant, which has no other kernel, has its schedule.
  void createKernel(mlir::OpBuilder &builder, bool isOnly) const;

private:
  KernelLaunch(const PlannedKernel &planned, LaunchItems items)
      : kernel(planned.kernel), copyBox(planned.copyBox),
        params(planned.params), threads(planned.threads),
        items(std::move(items)), make(kernel.getContext()) {}

  mlir::Attribute gridSize() const;
  void addChecksOfRows(llvm::SmallVectorImpl<LaunchCheck> &checks) const;
  mlir::Attribute sizeOf(LaunchSize size) const;
  launch::ReportAttr report() const;
  launch::StampsAttr stamps() const;
  int64_t cluster() const { return clusterOf(kernel); }
  mlir::MLIRContext *context() const { return kernel->getContext(); }

  // Getters of ops are not const.
  mutable ws::KernelOp kernel;
  CopyBoxOf copyBox;
  llvm::SmallVector<Param> params;
  int64_t threads;
  LaunchItems items;
  launch::Expressions make;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_KERNELLAUNCH_H
