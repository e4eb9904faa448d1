// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds `attn.checks`, the list of the conditions that each launch of a kernel
// must meet.
#ifndef ATTN_PASSES_KERNELS_CHECKLIST_H
#define ATTN_PASSES_KERNELS_CHECKLIST_H

#include "attn/dialect/Launch.h"

namespace attn {

class CheckList {
public:
  explicit CheckList(mlir::MLIRContext *context) : make(context) {}

  /// Returns an expression. Each operand is the name of a size or of an integer
  /// argument, a number, or an expression.
  template <typename A, typename B>
  mlir::Attribute apply(LaunchOp op, const A &a, const B &b) const {
    return make.apply(op, {expression(a), expression(b)});
  }
  mlir::Attribute expression(llvm::StringRef name) const {
    return make.name(name);
  }
  mlir::Attribute expression(int64_t value) const { return make.number(value); }
  mlir::Attribute expression(mlir::Attribute made) const { return made; }

  /// Adds a check: launches for which `condition` is 0 are refused with
  /// `message`.
  void require(mlir::Attribute condition, const llvm::Twine &message) {
    requireValue(condition, 1, message);
  }
  /// Adds a check: launches for which `expr` is not `value` are refused.
  void requireValue(mlir::Attribute expr, int64_t value,
                    const llvm::Twine &message);
  /// Adds a check: the sums of dQ have whole blocks of rows, because the
  /// elements of a block are stored in an order of their own.
  void requireBlocksOfSums(int64_t rowsOfBlock);
  /// Adds the checks to those that `kernel` has.
  void addTo(tile::KernelOp kernel) const;

private:
  launch::Expressions make;
  llvm::SmallVector<mlir::Attribute> checks;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_CHECKLIST_H
