// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a chip's folder gives to the passes from `ws` to instructions: layouts
// (attn/dialect/Chip.h), and a pattern for each op whose instructions are the
// chip's own.
#ifndef ATTN_CODEGEN_TARGET_H
#define ATTN_CODEGEN_TARGET_H

#include "KernelParams.h"
#include "attn/dialect/Chip.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::codegen {

class Target : public Chip {
public:
  /// Of `tile` ops, whose results are the values of one thread then; the chip
  /// may put values that they share at the beginning of the role.
  virtual void populateTilePatterns(mlir::RewritePatternSet &patterns,
                                    const mlir::TypeConverter &types,
                                    ws::KernelOp kernel,
                                    ws::RoleOp role) const = 0;

  /// Of ops of `ws` and `tile` that copy, move, multiply and wait; slots are
  /// offsets in shared memory, and nothing stands for tokens.
  virtual void populateInstructionPatterns(mlir::RewritePatternSet &patterns,
                                           const mlir::TypeConverter &types,
                                           const ParamValues &params) const = 0;
};

/// The target of the kernel's machine; null, with an error that `pass` begins,
/// if there is none.
const Target *findTarget(ws::KernelOp kernel, llvm::StringRef pass);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_H
