// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors from registers to global memory.
#include "ThreadElements.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Value codegen::threadRow(const Arithmetic &emit, int64_t i) {
  Value thread = emit.thread();
  Value warp = emit.bitAnd(emit.shiftRight(thread, 5), 3);
  Value quad = emit.bitAnd(emit.shiftRight(thread, 2), 7);
  return emit.add(emit.add(emit.mul(warp, 16), quad), 8 * i);
}

Value codegen::threadColumn(const Arithmetic &emit, int64_t i) {
  Value first = emit.mul(emit.bitAnd(emit.thread(), 3), 2);
  return emit.add(first, 8 * (i / 2) + i % 2);
}

namespace {

/// One lane of each quad writes the rows that the quad shares.
struct StoreRowPattern : ParamPattern<tile::StoreRowOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::StoreRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Value rows = params.of(Param::Dim, op.getDest(), op.getPart() ? 3 : 2);
    Value isFirst = emit.isEqual(emit.bitAnd(emit.thread(), 3), 0);
    for (int64_t i = 0; i < rowsPerThread; ++i) {
      Value row = emit.add(adaptor.getRow(), threadRow(emit, i));
      storeRow(op, adaptor, emit, {i, row}, rows, isFirst);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  struct Row {
    int64_t element; // of the thread's
    Value number;
  };

  void storeRow(tile::StoreRowOp op, OpAdaptor adaptor, const Arithmetic &emit,
                Row at, Value rows, Value isFirst) const {
    OpBuilder &builder = emit.builder;
    Value head = adaptor.getHead(), row = at.number;
    if (auto packed = op.getPack()) {
      Value within = emit.bitAnd(row, *packed - 1);
      head = emit.add(emit.mul(head, *packed), within);
      row = emit.shiftRight(row, llvm::Log2_64(*packed));
    }
    Value inside = arith::CmpIOp::create(builder, emit.loc,
                                         arith::CmpIPredicate::ult, row, rows);
    Value writes = arith::AndIOp::create(builder, emit.loc, isFirst, inside);
    Value value = emit.element(adaptor.getTile(), at.element);
    // Outside of the branch, for both rows to share what they have in common.
    SmallVector<Value> indices{adaptor.getBatch(), head, row};
    if (op.getPart()) {
      indices.insert(indices.begin(), adaptor.getPart());
    }
    Value pointer = elementPointer(emit, params, op.getDest(), indices);
    auto branch =
        scf::IfOp::create(builder, emit.loc, writes, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(builder, emit.loc, value, pointer);
  }
};

} // namespace

void sm90::populateElementPatterns(RewritePatternSet &patterns,
                                   const TypeConverter &types,
                                   const ParamValues &params) {
  patterns.add<StoreRowPattern>(types, patterns.getContext(), params);
}
