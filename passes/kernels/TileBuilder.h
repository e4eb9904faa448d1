// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the steps of a kernel and the common parts of their bodies, all at one
// location.
#ifndef ATTN_PASSES_LIB_TILEBUILDER_H
#define ATTN_PASSES_LIB_TILEBUILDER_H

#include "attn/dialect/Tile.h"

namespace attn {

class TileBuilder : public mlir::OpBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using Body = mlir::function_ref<Values(mlir::ValueRange)>;

  explicit TileBuilder(mlir::Location loc)
      : OpBuilder(loc.getContext()), loc(loc) {}

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(*this, loc, std::forward<Args>(args)...);
  }
  /// Fills `block`, which gets arguments of `types`, with the ops of `body`,
  /// and yields its results.
  void fill(mlir::Block &block, mlir::TypeRange types, Body body);
  /// Builds step `name`; `body` computes the results from the operands.
  Values step(llvm::StringRef name, mlir::ValueRange operands,
              mlir::TypeRange results, Body body, bool masked = false);

  /// Begins the work loop: its body starts with step `next`, which takes an
  /// item out of so many. Returns the item.
  mlir::Value beginWork(mlir::Value blocks, mlir::Value heads,
                        mlir::Value batches, mlir::Value section = {},
                        mlir::Value whole = {}, mlir::Value parts = {});

  /// Returns a size of `tensor`, as i32.
  mlir::Value sizeOf(mlir::Value tensor, unsigned dim);
  mlir::Value i32(int64_t value) {
    return make<mlir::arith::ConstantOp>(getI32IntegerAttr(value));
  }
  /// Returns `scalar`, as a tile if `other` is a tile.
  mlir::Value like(mlir::Value scalar, mlir::Value other);
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::AddIOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::SubIOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::MulIOp>(a, b);
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::MinSIOp>(a, b);
  }
  mlir::Value max(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::MaxSIOp>(a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::DivSIOp>(a, b);
  }
  mlir::Value ceilDiv(mlir::Value a, mlir::Value b) {
    return make<mlir::arith::CeilDivSIOp>(a, b);
  }

  mlir::Location loc;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_TILEBUILDER_H
