// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a kernel of attention: their descriptions, and the variables
// for their values.
#ifndef ATTN_PASSES_KERNELS_TILING_ARGUMENTLIST_H
#define ATTN_PASSES_KERNELS_TILING_ARGUMENTLIST_H

#include "../ArgumentNames.h"
#include "attn/dialect/Tile.h"

namespace attn {

class ArgumentList {
public:
  /// `positionDim` and `headsDim` are dimensions of Q, K, V and O.
  ArgumentList(mlir::MLIRContext *context, ArgumentNames names,
               unsigned positionDim, unsigned headsDim)
      : context(context), names(std::move(names)), positionDim(positionDim),
        headsDim(headsDim) {}

  /// Adds an argument that is read. An `input` that is a constant of the
  /// function is the same in all launches.
  void add(mlir::Value &argument, llvm::StringRef name, ArgumentRole role,
           mlir::Value input, llvm::ArrayRef<llvm::StringRef> dims = {});
  void addScale(mlir::Value &argument, mlir::Value input);
  /// Adds the rate of dropout.
  void addRate(mlir::Value &argument, mlir::Value input);
  void addBounds(llvm::SmallVector<mlir::Value> &arguments, MaskBounds kinds,
                 mlir::ValueRange inputs);
  void addCaptures(llvm::SmallVector<mlir::Value> &arguments,
                   mlir::ValueRange inputs);
  /// Adds an argument that is written, or accumulated.
  void addResult(mlir::Value &argument, llvm::StringRef name, ArgumentRole role,
                 mlir::Value result, llvm::ArrayRef<llvm::StringRef> dims,
                 ArgumentAccess access = ArgumentAccess::Write);

  /// Adds an argument that is added to.
  void addSums(mlir::Value &argument, llvm::StringRef name, ArgumentRole role,
               mlir::Value sums, llvm::ArrayRef<llvm::StringRef> dims);

  /// Returns the names of the sizes of a tensor whose dimensions are in the
  /// order of Q's.
  std::array<llvm::StringRef, 4> dimsOf(llvm::StringRef length,
                                        llvm::StringRef heads,
                                        llvm::StringRef columns) const;
  /// Returns the names of the captures in launches.
  llvm::SmallVector<std::string> captureNames() const;
  /// Creates the kernel that has these arguments, and sets their variables.
  /// `describe` sets other attributes of the kernel. The builder is then at the
  /// start of its body.
  tile::KernelOp createKernel(mlir::OpBuilder &builder, mlir::Location loc,
                              llvm::StringRef name, ProblemAttr problem,
                              ConfigAttr config,
                              llvm::function_ref<void(tile::KernelOp)> describe,
                              VariantAttr variant = {});

private:
  void describe(mlir::Value &argument, const ArgumentName &name,
                ArgumentRole role, ArgumentAccess access, mlir::Value input,
                llvm::ArrayRef<llvm::StringRef> dims = {},
                mlir::FloatAttr least = {}, mlir::FloatAttr most = {});

  mlir::MLIRContext *context;
  ArgumentNames names;
  unsigned positionDim, headsDim;
  llvm::SmallVector<ArgumentAttr> list;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Value *> arguments;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_ARGUMENTLIST_H
