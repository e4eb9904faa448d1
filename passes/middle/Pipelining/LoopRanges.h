// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges of a streaming loop during its expansion: where the blocks begin,
// how many there are, and their numbers.
#ifndef ATTN_PASSES_PIPELINING_LOOPRANGES_H
#define ATTN_PASSES_PIPELINING_LOOPRANGES_H

#include "attn/dialect/Ws.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn {

class LoopRanges {
public:
  LoopRanges(ws::ForOp loop, mlir::OpBuilder &builder)
      : loop(loop), builder(builder) {}

  bool isSkipped(size_t range) {
    return loop.getRanges()[range].getKind() == tile::RangeKind::Skipped;
  }
  /// The index of the first range that is not skipped, and the one after the
  /// last such range.
  size_t first() { return isSkipped(0) ? 1 : 0; }
  size_t end() {
    size_t size = loop.getRanges().size();
    return size > 1 && isSkipped(size - 1) ? size - 1 : size;
  }
  bool isMasked(size_t range) {
    return loop.getRanges()[range].getKind() == tile::RangeKind::Masked;
  }
  bool anyMasked(size_t from);
  bool hasOneBlockAtMost(size_t range) {
    return loop.getRanges()[range].getAtMost().value_or(2) <= 1;
  }
  /// The bound at which the blocks that are not skipped begin.
  mlir::Value firstBlock() { return loop.getBounds()[first()]; }
  /// The bound at which they end.
  mlir::Value lastBound() { return loop.getBounds()[end()]; }

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loop.getLoc(), value,
                                              32);
  }
  /// The number of blocks from a bound to a later one.
  mlir::Value countBlocks(mlir::Value from, mlir::Value to);
  /// The number of the block whose iteration began `shift` steps before `time`.
  mlir::Value blockNumber(int64_t shift, mlir::Value time);
  /// i1, whether the first block comes before `bound`.
  mlir::Value beginsBefore(mlir::Value bound);
  /// i1, whether a time is in [from, to). A null bound is no limit.
  mlir::Value isBetween(mlir::Value time, mlir::Value from, mlir::Value to);

private:
  ws::ForOp loop;
  mlir::OpBuilder &builder;
};

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_LOOPRANGES_H
