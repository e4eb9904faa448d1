// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_SM90_SM90_H
#define ATTN_CODEGEN_SM90_SM90_H

#include "../common/Target.h"

namespace attn::codegen {

/// Hopper: a warpgroup's products of 64 rows have their accumulators in
/// registers.
class Sm90 : public Target {
public:
  llvm::StringRef getName() const final { return "sm_90a"; }
  mlir::FailureOr<tile::LayoutAttr>
  accumulatorLayout(mlir::RankedTensorType tile, Error error) const final;
  mlir::FailureOr<tile::LayoutAttr> vectorLayout(mlir::RankedTensorType vector,
                                                 int64_t dim,
                                                 Error error) const final;
  mlir::FailureOr<tile::LayoutAttr> operandLayout(mlir::RankedTensorType tile,
                                                  Error error) const final;

  mlir::LogicalResult checkRole(ws::RoleOp role, Error error) const final;
  void setRegisters(const Arithmetic &emit, int64_t registers,
                    int64_t launched) const final;
  int64_t registersForParts() const final { return 144; }
  mlir::LogicalResult checkTileOp(mlir::Operation *op, Error error) const final;
  void markTileOps(ws::RoleOp role) const final;
  void populateTilePatterns(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &types,
                            ws::KernelOp kernel, ws::RoleOp role) const final;

  void layOutSlots(ws::KernelOp kernel) const final;
  mlir::LogicalResult checkSmemTile(mlir::RankedTensorType tile,
                                    Error error) const final;
  std::optional<int64_t> registersSetBy(mlir::Operation *op) const final;
  CopyBox copyBox(mlir::RankedTensorType tile, int64_t tensorColumns,
                  int64_t ctas) const final;
  mlir::LogicalResult checkInstruction(mlir::Operation *op,
                                       Error error) const final;
  void populateInstructionPatterns(mlir::RewritePatternSet &patterns,
                                   const mlir::TypeConverter &types,
                                   const ParamValues &params) const final;

  bool waitsForProducts(mlir::Operation *op) const final;
  void populateCompletionPatterns(mlir::RewritePatternSet &patterns,
                                  RoleSync &sync) const final;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_SM90_SM90_H
