// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unsigned i32 division by the same number, once or often.
#ifndef ATTN_CODEGEN_DIVISOR_H
#define ATTN_CODEGEN_DIVISOR_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::codegen {

class Divisor {
public:
  Divisor() = default;
  /// Divides with the instruction, which is a long sequence on a GPU.
  explicit Divisor(mlir::Value value) : value(value) {}
  /// Computes a reciprocal at `builder`, with which a division needs two
  /// multiplications and a comparison. The reciprocal of 0 is unspecified.
  static Divisor prepare(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value);
  /// Returns the divisor that `condition` selects; both must be of the same
  /// kind.
  static Divisor select(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value condition, Divisor a, Divisor b);

  /// Returns the quotient and the remainder.
  std::pair<mlir::Value, mlir::Value>
  divide(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value n) const;

private:
  mlir::Value value, reciprocal;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_DIVISOR_H
