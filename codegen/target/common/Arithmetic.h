// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for common operations of lowerings: i32 arithmetic, elements,
// threads.
#ifndef ATTN_CODEGEN_ARITHMETIC_H
#define ATTN_CODEGEN_ARITHMETIC_H

#include "attn/codegen/launch/LaunchShape.h"

namespace attn::codegen {

/// Emits at the insertion point of `builder`.
struct Arithmetic {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value) const {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) const {
    return mlir::arith::AddIOp::create(builder, loc, a, b);
  }
  mlir::Value add(mlir::Value a, int64_t b) const {
    return add(a, constant(b));
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) const {
    return mlir::arith::SubIOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) const {
    return mlir::arith::MulIOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, int64_t b) const {
    return mul(a, constant(b));
  }
  mlir::Value bitAnd(mlir::Value a, int64_t b) const {
    return mlir::arith::AndIOp::create(builder, loc, a, constant(b));
  }
  mlir::Value bitOr(mlir::Value a, int64_t b) const {
    return mlir::arith::OrIOp::create(builder, loc, a, constant(b));
  }
  mlir::Value shiftRight(mlir::Value a, int64_t bits) const {
    return mlir::arith::ShRUIOp::create(builder, loc, a, constant(bits));
  }
  mlir::Value isEqual(mlir::Value a, int64_t b) const {
    return mlir::arith::CmpIOp::create(
        builder, loc, mlir::arith::CmpIPredicate::eq, a, constant(b));
  }
  mlir::Value element(mlir::Value vector, int64_t i) const {
    return mlir::vector::ExtractOp::create(builder, loc, vector,
                                           llvm::ArrayRef<int64_t>{i});
  }
  /// The number of this thread in its CTA.
  mlir::Value thread() const {
    return mlir::NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  }
  /// Emits whether this thread is the first of its group of `threads` threads,
  /// a power of two; groups begin at multiples of it (RolePlacement::check).
  mlir::Value isFirstOf(int64_t threads) const {
    return isEqual(bitAnd(thread(), threads - 1), 0);
  }
  /// The number of this thread in its warp.
  mlir::Value lane() const { return bitAnd(thread(), warpThreads - 1); }
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_ARITHMETIC_H
