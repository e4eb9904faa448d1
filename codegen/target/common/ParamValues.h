// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of a kernel as values of its code.
#ifndef ATTN_CODEGEN_PARAMVALUES_H
#define ATTN_CODEGEN_PARAMVALUES_H

#include "attn/codegen/launch/KernelParams.h"

namespace attn::codegen {

/// Arguments of the kernel's body, after the kernel's own arguments.
class ParamValues {
public:
  /// Adds the arguments, which replace sizes and scalars.
  ParamValues(ws::KernelOp kernel, llvm::ArrayRef<Param> params);

  /// Returns a parameter of the argument `tensor`.
  mlir::Value of(Param::Kind kind, mlir::Value tensor, int64_t dim = 0) const;
  /// Returns a result of the kernel's `tile.cut`.
  mlir::Value cut(int64_t result) const;
  /// Returns whether the kernel has a `tile.cut`, whose results are parameters.
  bool hasCut() const;
  /// The start of the workspace.
  mlir::Value workspace() const;

  llvm::ArrayRef<Param> getParams() const { return params; }
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }

private:
  mlir::Value find(const Param &param) const;

  llvm::SmallVector<Param> params;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_PARAMVALUES_H
