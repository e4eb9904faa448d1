// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the verifiers of attention and its gradients share.
#ifndef ATTN_DIALECT_LIB_ATTENTIONCHECKS_H
#define ATTN_DIALECT_LIB_ATTENTIONCHECKS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// A tensor of an op, with its name in diagnostics.
struct NamedTensor {
  llvm::StringRef name;
  mlir::RankedTensorType type;

  int64_t dim(unsigned d) const { return type.getDimSize(d); }
};

/// A size that a tensor must have.
struct DimRule {
  NamedTensor tensor;
  unsigned dim;
  llvm::StringRef what;
  int64_t expected;
};

/// Checks the sizes that are static.
llvm::LogicalResult expectDims(mlir::Operation *op,
                               llvm::ArrayRef<DimRule> rules);
llvm::LogicalResult verifyHeadDim(mlir::Operation *op, NamedTensor tensor);
/// Checks that the heads of a query are a multiple of those of a key.
llvm::LogicalResult verifyHeads(mlir::Operation *op, int64_t heads,
                                int64_t keyHeads);
/// Checks that the tensors have the element type of 'query'.
llvm::LogicalResult verifyElementTypes(mlir::Operation *op, mlir::Type wanted,
                                       llvm::ArrayRef<NamedTensor> tensors);
/// Checks the bounds of a mask, of which the op has `values`.
llvm::LogicalResult verifyMaskBounds(mlir::Operation *op, MaskKind mask,
                                     MaskBounds kinds, size_t values);
/// Checks that the rate and the state of a dropout occur together.
llvm::LogicalResult verifyDropout(mlir::Operation *op, mlir::Value rate,
                                  mlir::Value state);
/// Checks the mask beside `row_keys`, which may be empty.
llvm::LogicalResult verifyRowKeys(mlir::Operation *op, mlir::Region &rowKeys,
                                  MaskKind mask);
/// Checks the attributes of an op whose mask a pass has replaced.
llvm::LogicalResult verifyUserMask(mlir::Operation *op);

/// A region of an attention, which may be absent: the types of its arguments
/// before the captures, and of its results.
struct RegionRule {
  mlir::Region &region;
  llvm::StringRef name;
  llvm::SmallVector<mlir::Type> leading, results;
};
/// Returns the rule of `row_keys`.
RegionRule ruleOfRowKeys(mlir::Region &rowKeys);
llvm::LogicalResult verifyRegions(mlir::Operation *op,
                                  mlir::ValueRange captures,
                                  llvm::ArrayRef<RegionRule> rules);
/// Returns whether a region is absent, present or reads captures at a position;
/// `position` is the number of its argument for the position of the query, and
/// the next argument is that of the key.
RegionKind regionKind(mlir::Region &region, unsigned position);

} // namespace attn

#endif // ATTN_DIALECT_LIB_ATTENTIONCHECKS_H
