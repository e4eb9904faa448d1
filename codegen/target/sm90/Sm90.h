// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_SM90_SM90_H
#define ATTN_CODEGEN_SM90_SM90_H

#include "../common/Target.h"

namespace attn::codegen {

/// Hopper: a warpgroup's products of 64 rows have their accumulators in
/// registers.
class Sm90 : public Target {
public:
  llvm::StringRef getMachine() const final { return "sm_90a"; }
  mlir::FailureOr<tile::LayoutAttr>
  accumulatorLayout(mlir::RankedTensorType tile, Error error) const final;
  mlir::FailureOr<tile::LayoutAttr> vectorLayout(mlir::RankedTensorType vector,
                                                 int64_t dim,
                                                 Error error) const final;
  mlir::FailureOr<tile::LayoutAttr> operandLayout(mlir::RankedTensorType tile,
                                                  Error error) const final;
  void populateTilePatterns(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &types,
                            ws::KernelOp kernel, ws::RoleOp role) const final;
  void populateInstructionPatterns(mlir::RewritePatternSet &patterns,
                                   const mlir::TypeConverter &types,
                                   const ParamValues &params) const final;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_SM90_SM90_H
