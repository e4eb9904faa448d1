// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles from registers to shared memory (stmatrix).
#include "Patterns.h"
#include "SmemTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::codegen::sm90::GroupOrder;
using attn::codegen::sm90::SmemTile;

namespace {

/// Stores four 8x8 matrices per instruction: sixteen rows of a warp by sixteen
/// columns.
struct PutPattern : OpConversionPattern<ws::PutOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ws::PutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    auto kernel = op->getParentOfType<ws::KernelOp>();
    auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
    if (getElementTypeOrSelf(hold.getType()).isF32()) {
      putGroups(emit, hold, adaptor);
      rewriter.eraseOp(op);
      return success();
    }
    SmemTile tile(cast<RankedTensorType>(hold.getType()));
    Value thread = emit.thread();
    Value warp = emit.bitAnd(emit.shiftRight(thread, 5), 3);
    Value firstRow = emit.mul(warp, 16);
    Value row = emit.add(firstRow, emit.bitAnd(thread, 15));
    Value high = emit.bitAnd(emit.shiftRight(thread, 4), 1);
    Value swizzle = emit.bitAnd(emit.shiftRight(row, tile.swizzleRowShift()),
                                tile.chunksPerSpan() - 1);
    // The address of the first chunk; the number of a chunk is in bits that are
    // 0 in the address of a row.
    Value first =
        smemAddress(rewriter, loc, pieceOffset(emit, hold, adaptor.getPiece()));
    first = emit.add(first, emit.mul(row, tile.spanBytes()));
    Value chunk = arith::XOrIOp::create(rewriter, loc, high, swizzle);
    first = emit.add(first, emit.mul(chunk, SmemTile::chunkBytes));
    for (int64_t k = 0; k < tile.columns / 16; ++k) {
      int64_t panel = 2 * k / tile.chunksPerSpan();
      int64_t inSpan = 2 * k % tile.chunksPerSpan() * SmemTile::chunkBytes;
      Value address =
          arith::XOrIOp::create(rewriter, loc, first, emit.constant(inSpan));
      address = emit.add(address, panel * tile.panelBytes());
      store(emit, address, adaptor.getValue(), 4 * k);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Stores a tile of f32 in the order in which warps hold it: a lane's four
  /// registers in each group of columns, in which the warps follow each other.
  static void putGroups(const Arithmetic &emit, ws::HoldOp hold,
                        OpAdaptor adaptor) {
    int64_t columns = cast<RankedTensorType>(hold.getType()).getDimSize(1);
    Value address = smemAddress(emit.builder, emit.loc,
                                pieceOffset(emit, hold, adaptor.getPiece()));
    Value warp = emit.bitAnd(emit.shiftRight(emit.thread(), 5), 3);
    address = emit.add(address, emit.mul(warp, GroupOrder::bytes));
    address = emit.add(address, emit.mul(emit.lane(), GroupOrder::laneBytes));
    for (int64_t n = 0; n < columns / GroupOrder::columns; ++n) {
      Value values = vector::ExtractStridedSliceOp::create(
          emit.builder, emit.loc, adaptor.getValue(), ArrayRef<int64_t>{4 * n},
          ArrayRef<int64_t>{4}, ArrayRef<int64_t>{1});
      Value at = emit.add(address, n * GroupOrder::warpgroupBytes);
      LLVM::StoreOp::create(emit.builder, emit.loc, values,
                            sharedPointer(emit.builder, emit.loc, at),
                            /*alignment=*/GroupOrder::laneBytes);
    }
  }

  /// Stores four of a thread's registers, from `first` on.
  static void store(const Arithmetic &emit, Value address, Value packed,
                    int64_t first) {
    MLIRContext *context = emit.builder.getContext();
    SmallVector<Value> registers;
    for (int64_t i = 0; i < 4; ++i) {
      registers.push_back(emit.element(packed, first + i));
    }
    NVVM::StMatrixOp::create(
        emit.builder, emit.loc, sharedPointer(emit.builder, emit.loc, address),
        registers, NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
        NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
        NVVM::LdStMatrixEltTypeAttr::get(context,
                                         NVVM::LdStMatrixEltType::B16));
  }
};

} // namespace

void sm90::populatePutPatterns(RewritePatternSet &patterns,
                               const TypeConverter &types) {
  patterns.add<PutPattern>(types, patterns.getContext());
}
