// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of a forward kernel's arguments and sizes. No other code uses them:
// it finds an argument by its role.
#ifndef ATTN_PASSES_KERNELS_ARGUMENTNAMES_H
#define ATTN_PASSES_KERNELS_ARGUMENTNAMES_H

#include "attn/dialect/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace attn {

namespace names {

/// Bounds of masks have their own names (Masks.td).
constexpr llvm::StringLiteral q = "q", k = "k", v = "v", scale = "scale",
                              o = "o", lse = "lse";

/// Batches; positions and heads of Q and O, and of K and V; head dims of Q and
/// K, and of V and O.
constexpr llvm::StringLiteral batches = "b", queries = "sq", keys = "sk",
                              queryHeads = "hq", keyHeads = "hk", dim = "d",
                              dimV = "dv";

} // namespace names

/// What a launch calls an argument, and what expressions of its plan do.
struct ArgumentName {
  std::string name, symbol;
};

/// Names that are different, and symbols that are different and no sizes. A
/// capture has the name that the user gave it: names of ours give way.
class ArgumentNames {
public:
  /// An error where the user gave a capture no name at all, or two the same.
  static mlir::FailureOr<ArgumentNames> of(mlir::func::FuncOp func,
                                           AttentionOp attention);

  llvm::ArrayRef<ArgumentName> captures() const { return captureNames; }
  /// Returns `wanted`, or with a number behind it if that is taken.
  ArgumentName take(llvm::StringRef wanted);

private:
  ArgumentNames();
  std::string takeSymbol(llvm::StringRef name, int64_t rank);
  bool isFree(llvm::StringRef symbol, int64_t rank) const;

  llvm::StringSet<> names, symbols;
  llvm::SmallVector<ArgumentName> captureNames;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_ARGUMENTNAMES_H
