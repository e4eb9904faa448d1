// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that score and mask regions may hold (ScoreOps.td), as the compiler
// knows them.
#ifndef ATTN_DIALECT_SCOREOPS_H
#define ATTN_DIALECT_SCOREOPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {
struct Scalar;

/// A record of ScoreOps.td, which explains the fields.
struct ScoreOp {
  using Derivative = Scalar (*)(Scalar a, Scalar b, Scalar c, Scalar y);

  const char *name;
  void (*attach)(mlir::MLIRContext &context);
  Derivative derivatives[3];
  Scalar (*expansion)(Scalar a);
  bool isF32Only;
  uint32_t weight;
  uint32_t weightByConstant;
};

llvm::ArrayRef<ScoreOp> scoreOps();
/// The record of the op with a name; null if regions may not hold it.
const ScoreOp *lookUpScoreOp(llvm::StringRef name);
inline const ScoreOp *lookUpScoreOp(mlir::Operation *op) {
  return lookUpScoreOp(op->getName().getStringRef());
}
/// Returns the type of a derivative by, or of, a float: f64 for f64, otherwise
/// f32.
mlir::Type slopeTypeOf(mlir::Type type);
/// Whether a value of a region is computed from `source`, a value of the same
/// region.
bool dependsOn(mlir::Value value, mlir::Value source);
/// Returns `op` of an f32, computed by the ops of its expansion.
mlir::Value expandScoreOp(const ScoreOp &op, mlir::ImplicitLocOpBuilder &b,
                          mlir::Value operand);
} // namespace attn

#endif // ATTN_DIALECT_SCOREOPS_H
