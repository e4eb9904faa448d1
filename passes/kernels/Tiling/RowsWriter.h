// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a kernel without a loop: a work item is a block of the rows of one
// batch and one head.
#ifndef ATTN_PASSES_KERNELS_TILING_ROWSWRITER_H
#define ATTN_PASSES_KERNELS_TILING_ROWSWRITER_H

#include "../CheckList.h"
#include "../TileBuilder.h"
#include "ArgumentList.h"

namespace attn {

class RowsWriter {
public:
  using Values = TileBuilder::Values;
  /// The position of the tile of a work item.
  struct Place {
    mlir::Value batch, head, row;
  };

  /// Writes before the function of `op`. In its tensors of four dimensions,
  /// these two are the positions and the heads.
  RowsWriter(mlir::Operation *op, ConfigAttr config, unsigned positionDim,
             unsigned headsDim);

  /// Creates the kernel, with `arguments`; other ops are written into it.
  tile::KernelOp createKernel(llvm::StringRef name, ProblemAttr problem,
                              const CheckList &checks);
  /// Begins the work loop over blocks of rows, and returns the item.
  mlir::Value writeNext(mlir::Value batches, mlir::Value heads,
                        mlir::Value rows);
  Place placeOf(mlir::Value work);

  TileBuilder b;
  ConfigAttr config;
  ArgumentList arguments;

private:
  mlir::Value tileSize;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_ROWSWRITER_H
