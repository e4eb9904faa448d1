// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_LAUNCH_PLANARGUMENTS_H
#define ATTN_CODEGEN_LAUNCH_PLANARGUMENTS_H

#include "attn/codegen/launch/LaunchPlan.h"

namespace attn::codegen {

/// The arguments of the kernels of a call. Kernels share those of one name.
class PlanArguments {
public:
  /// Collects the arguments of the launches, in order. Launches that do not fit
  /// each other, or their `sequence`, are an error.
  static mlir::FailureOr<PlanArguments>
  of(llvm::ArrayRef<PlannedLaunch> launches, launch::SequenceOp sequence);

  /// Creates the plan with the arguments that are the caller's, without its
  /// values, temporaries, checks and variants.
  launch::PlanOp createPlan(mlir::OpBuilder &builder, mlir::Location loc,
                            llvm::StringRef name, llvm::StringRef chip,
                            ProblemAttr problem) const;

  /// Creates the sizes and tensors that are not the caller's.
  void createTemporaries(mlir::OpBuilder &builder,
                         launch::SequenceOp sequence) const;

private:
  struct Argument {
    ArgumentAttr description;
    mlir::BlockArgument value;
    bool isTemporary = false;
    /// The kernel that writes it, if one does, and the last one that uses it.
    ws::KernelOp writer, user;
  };

  mlir::LogicalResult add(ws::KernelOp kernel);
  mlir::LogicalResult merge(Argument &known, Argument next);
  mlir::LogicalResult markTemporaries(launch::SequenceOp sequence);
  mlir::Attribute resolve(mlir::Attribute expr) const;
  ArgumentsAttr allArguments() const;
  llvm::SmallVector<mlir::Type> allTypes() const;

  /// The arguments that are read come before those that are only written.
  llvm::SmallVector<Argument> list;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_PLANARGUMENTS_H
