// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Division of i32 numbers without sign by one number, once or often.
#ifndef ATTN_CODEGEN_DIVISOR_H
#define ATTN_CODEGEN_DIVISOR_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::codegen {

class Divisor {
public:
  Divisor() = default;
  /// Divides by the instruction, which is a long sequence on a GPU.
  explicit Divisor(mlir::Value value) : value(value) {}
  /// Computes a reciprocal where `builder` stands, with which a division is two
  /// multiplications and a comparison. By 0: some reciprocal.
  static Divisor prepare(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value);
  /// The one that `condition` chooses; both were made in the same way.
  static Divisor select(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value condition, Divisor a, Divisor b);

  /// Quotient and remainder.
  std::pair<mlir::Value, mlir::Value>
  divide(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value n) const;

private:
  mlir::Value value, reciprocal;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_DIVISOR_H
