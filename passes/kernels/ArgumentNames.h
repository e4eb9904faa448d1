// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of kernels' arguments and sizes. No other code uses them:
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
constexpr llvm::StringLiteral dropoutRate = "dropout_rate",
                              dropoutState = "dropout_state", sinks = "sinks";

/// Batches; positions and heads of Q and O, and of K and V; head dims of Q and
/// K, and of V and O.
constexpr llvm::StringLiteral batches = "b", queries = "sq", keys = "sk",
                              queryHeads = "hq", keyHeads = "hk", dim = "d",
                              dimV = "dv";

/// Of a backward pass: the gradients of O and LSE, the statistics of rows and
/// their number, and the columns of sums of dQ.
constexpr llvm::StringLiteral outGradient = "do", lseGradient = "dlse",
                              delta = "dl", lse2 = "lse2", rows = "sr",
                              sumColumns = "sc";
constexpr llvm::StringLiteral queryGradient = "dq", keyGradient = "dk",
                              valueGradient = "dv", sums = "dqs",
                              turns = "dq_turns", seeing = "seeing";

/// The names of the gradient of a capture, or of the scale, and of the sums
/// from which it is added up.
inline std::string gradientOf(llvm::StringRef capture) {
  return ("d" + capture).str();
}
inline std::string sumsOf(llvm::StringRef capture) {
  return (capture + "_sums").str();
}

} // namespace names

/// The name of an argument in launches, and the symbol that stands for it in
/// expressions of the plan.
struct ArgumentName {
  std::string name, symbol;
};

/// Returns the default name of one of a tensor's sizes, as in #attn.arguments.
std::string sizeOf(llvm::StringRef symbol, int64_t dim);

/// The names and symbols of a kernel's arguments: all are different, and no
/// symbol is that of a size. A capture keeps the name that the user gave it;
/// other arguments are renamed.
class ArgumentNames {
public:
  /// Returns an error if the user gave a capture an empty name, or two captures
  /// the same name.
  static mlir::FailureOr<ArgumentNames> of(mlir::func::FuncOp func,
                                           mlir::ValueRange captures);

  llvm::ArrayRef<ArgumentName> captures() const { return captureNames; }
  /// Returns the names of the capture whose derivatives `op` computes, or of
  /// the scale.
  ArgumentName captureOf(AttentionBwdOp op) const;
  /// Returns `wanted`, followed by a number if it is taken. Its symbol may
  /// differ, because sizes use symbols, too, but no names.
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
