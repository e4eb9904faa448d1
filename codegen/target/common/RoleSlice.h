// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a role that use barriers, and the ops that control them.
#ifndef ATTN_CODEGEN_ROLESLICE_H
#define ATTN_CODEGEN_ROLESLICE_H

#include "attn/dialect/Nvx.h"
#include "attn/dialect/Ws.h"
#include "llvm/ADT/DenseSet.h"

namespace attn::codegen {

/// Slices the program under `root`, a `ws.role` or `ws.setup` after
/// attn-lower-channels. All other ops compute tiles.
class RoleSlice {
public:
  explicit RoleSlice(mlir::Operation *root);

  /// The ops of the slice directly in `block`, in order.
  llvm::ArrayRef<mlir::Operation *> opsOf(mlir::Block &block) const {
    auto found = ops.find(&block);
    return found == ops.end()
               ? llvm::ArrayRef<mlir::Operation *>()
               : llvm::ArrayRef<mlir::Operation *>(found->second);
  }
  /// Returns the number of a needed value, or nothing.
  std::optional<unsigned> numberOf(mlir::Value value) const {
    auto found = numbers.find(value);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  /// All of them, with their numbers.
  const llvm::DenseMap<mlir::Value, unsigned> &all() const { return numbers; }

private:
  void keep(mlir::Operation *op);
  void need(mlir::Value value);
  void needSources(mlir::Value value);
  void needResult(mlir::OpResult result);

  mlir::Operation *root;
  llvm::DenseSet<mlir::Operation *> kept;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> ops;
  llvm::SmallVector<mlir::Value> worklist;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_ROLESLICE_H
