// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of a warpgroup (wgmma), and waits for them.
#include "../common/HoldPatterns.h"
#include "Patterns.h"
#include "SmemTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::codegen::sm90::SmemTile;

namespace {
constexpr int64_t mmaDepth = 16; // k of one wgmma on 16-bit elements
constexpr int64_t mmaRows = 64;
/// The columns of one wgmma. Twice as many are no faster, and take the
/// assembler longer than two instructions (docs/adr/0019).
constexpr int64_t mmaColumns = 128;

/// Returns the offsets of the k steps of an operand whose rows run along k
/// (K-major), in units of 16 bytes.
SmallVector<int32_t> stepsAlongRow(SmemTile tile) {
  SmallVector<int32_t> offsets;
  for (int64_t k = 0; k < tile.columns; k += mmaDepth) {
    int64_t bytes = k / tile.panelColumns() * tile.panelBytes() +
                    k % tile.panelColumns() * SmemTile::elementBytes;
    offsets.push_back(bytes / 16);
  }
  return offsets;
}

/// Returns these offsets for an operand in which k runs down the rows
/// (MN-major).
SmallVector<int32_t> stepsDownRows(SmemTile tile) {
  SmallVector<int32_t> offsets;
  for (int64_t k = 0; k < tile.rows; k += mmaDepth) {
    offsets.push_back(k * tile.spanBytes() / 16);
  }
  return offsets;
}

/// Returns the offsets in B of the instructions that compute D, if one does not
/// compute all of its `columns`; otherwise nothing. The columns of the next
/// instruction begin `bytes` later.
SmallVector<int32_t> columnParts(int64_t columns, int64_t bytes) {
  if (columns == mmaColumns || columns % mmaColumns != 0) {
    return {};
  }
  SmallVector<int32_t> offsets;
  for (int64_t part = 0; part < columns / mmaColumns; ++part) {
    offsets.push_back(part * bytes / 16);
  }
  return offsets;
}

/// Returns the bytes from one column to the one `columns` later in an MN-major
/// operand: whole panels, or a part of one.
int64_t columnBytes(SmemTile tile, int64_t columns) {
  return columns / tile.panelColumns() * tile.panelBytes() +
         columns % tile.panelColumns() * SmemTile::elementBytes;
}

/// D's columns are along B's rows or, if `transposed`, down them.
SmallVector<int32_t> columnParts(SmemTile b, bool transposed) {
  return transposed ? columnParts(b.rows, mmaColumns * b.spanBytes())
                    : columnParts(b.columns, columnBytes(b, mmaColumns));
}

/// Returns the columns of a product of 64 rows, of which a thread holds half as
/// many elements.
int64_t columnsOf(Value result) {
  return 2 * cast<VectorType>(result.getType()).getNumElements();
}

/// The leading offset of a K-major operand, which the hardware ignores if the
/// operand is swizzled.
constexpr int64_t ignoredOffset = 16;

/// Returns the low word of a descriptor: the address, and the leading offset.
/// In an MN-major operand, the offset is the distance from one panel to the
/// next. The high word is SmemTile::descriptorHigh().
Value descriptorLow(OpBuilder &builder, Location loc, Value address,
                    int64_t leadingBytes) {
  Arithmetic emit{builder, loc};
  Value units = emit.bitAnd(emit.shiftRight(address, 4), 0x3FFF);
  return emit.bitOr(units, leadingBytes / 16 << 16);
}

/// Operand A of a wgmma: a register tile, or the low word of a descriptor, its
/// high word and the offsets of the k steps.
struct OperandA {
  Value value;
  IntegerAttr high;
  DenseI32ArrayAttr steps;
};

struct MmaPattern : OpConversionPattern<ws::MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ws::MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pieces = holdOf(op, op.getB());
    SmemTile b(pieces ? cast<RankedTensorType>(pieces.getType())
                      : op.getB().getType().getTile());
    SmallVector<int32_t> bSteps =
        pieces               ? stepsDownPieces(pieces, op.getB().getType())
        : op.getTransposeB() ? stepsAlongRow(b)
                             : stepsDownRows(b);
    SmallVector<int32_t> bParts = columnParts(b, op.getTransposeB());
    Value bAddress = smemAddress(rewriter, loc, only(adaptor.getB()));
    if (Value piece = only(adaptor.getColumns())) {
      Arithmetic emit{rewriter, loc};
      int64_t columns = columnsOf(op.getResult());
      bAddress = emit.add(bAddress, emit.mul(piece, columnBytes(b, columns)));
      bParts = columnParts(columns, columnBytes(b, mmaColumns));
    }
    Value bLow =
        descriptorLow(rewriter, loc, bAddress,
                      op.getTransposeB() ? ignoredOffset : b.panelBytes());
    OperandA a = operandA(op, adaptor, rewriter);
    UnitAttr transposed =
        op.getTransposeB() ? UnitAttr() : rewriter.getUnitAttr();
    bool isHalf = op.getB().getType().getTile().getElementType().isF16();
    auto wgmma = nvx::WgmmaOp::create(
        rewriter, loc, op.getResult().getType(),
        isHalf ? nvx::ElementType::F16 : nvx::ElementType::BF16, a.value, bLow,
        only(adaptor.getAcc()), only(adaptor.getFresh()), a.high,
        rewriter.getI32IntegerAttr(b.descriptorHigh()), a.steps,
        rewriter.getDenseI32ArrayAttr(bSteps),
        bParts.empty() ? nullptr : rewriter.getDenseI32ArrayAttr(bParts),
        op.getTransposeAAttr(), transposed);
    // The token has no value: groups complete in order, so a wait only counts
    // them.
    rewriter.replaceOpWithMultiple(
        op, ArrayRef<ValueRange>{wgmma.getResult(), ValueRange()});
    return success();
  }

private:
  /// Returns the value of an operand, or null.
  static Value only(ValueRange values) {
    return values.empty() ? Value() : values.front();
  }

  /// Returns the hold whose pieces an operand is, or null.
  static ws::HoldOp holdOf(ws::MmaOp op, Value operand) {
    return operand == operandOfAllPieces(op)
               ? op->getParentOfType<ws::KernelOp>().lookupSymbol<ws::HoldOp>(
                     cast<ws::SlotType>(operand.getType()).getChannel())
               : ws::HoldOp();
  }

  /// Returns the offsets of the k steps of an operand that is the pieces of a
  /// hold, one below the other: they go down the rows of each.
  static SmallVector<int32_t> stepsDownPieces(ws::HoldOp hold,
                                              ws::SlotType slot) {
    SmemTile piece(cast<RankedTensorType>(hold.getType()));
    SmallVector<int32_t> steps, ofPiece = stepsDownRows(piece);
    for (int64_t first = 0; first < slot.getTile().getDimSize(0);
         first += piece.rows) {
      for (int32_t step : ofPiece) {
        int64_t before = first / piece.rows * int64_t(hold.getPieceBytes());
        steps.push_back(before / 16 + step);
      }
    }
    return steps;
  }

  /// A transposed A is a loaded tile, or the pieces of a hold. D's rows are a
  /// panel of its columns.
  static OperandA transposedOperandA(ws::MmaOp op, OneToNOpAdaptor adaptor,
                                     Value address, OpBuilder &builder) {
    auto slot = cast<ws::SlotType>(op.getA().getType());
    auto hold = holdOf(op, op.getA());
    SmemTile piece(hold ? cast<RankedTensorType>(hold.getType())
                        : slot.getTile());
    Arithmetic emit{builder, op.getLoc()};
    if (Value panel = only(adaptor.getPiece())) {
      address = emit.add(address, emit.mul(panel, piece.panelBytes()));
    }
    SmallVector<int32_t> steps =
        hold ? stepsDownPieces(hold, slot) : stepsDownRows(piece);
    return {descriptorLow(builder, op.getLoc(), address, piece.panelBytes()),
            builder.getI32IntegerAttr(piece.descriptorHigh()),
            builder.getDenseI32ArrayAttr(steps)};
  }

  static OperandA operandA(ws::MmaOp op, OneToNOpAdaptor adaptor,
                           OpBuilder &builder) {
    auto slot = dyn_cast<ws::SlotType>(op.getA().getType());
    if (!slot) {
      return {only(adaptor.getA()), {}, {}};
    }
    Location loc = op.getLoc();
    Arithmetic emit{builder, loc};
    SmemTile tile(slot.getTile());
    Value address = smemAddress(builder, loc, only(adaptor.getA()));
    if (op.getTransposeA()) {
      return transposedOperandA(op, adaptor, address, builder);
    }
    if (Value piece = only(adaptor.getPiece())) {
      address = emit.add(address, emit.mul(piece, mmaRows * tile.spanBytes()));
    }
    return {descriptorLow(builder, loc, address, ignoredOffset),
            builder.getI32IntegerAttr(tile.descriptorHigh()),
            builder.getDenseI32ArrayAttr(stepsAlongRow(tile))};
  }
};

/// Groups complete in order: the number that may stay pending is the number
/// issued later.
struct AwaitPattern : OpConversionPattern<ws::AwaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ws::AwaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value value = adaptor.getValue().front();
    Operation *issued = value.getDefiningOp();
    if (!isa_and_nonnull<nvx::WgmmaOp>(issued) ||
        issued->getBlock() != op->getBlock()) {
      return op.emitOpError("attn-lower-to-nvvm: expected the MMA of this "
                            "token in the code before");
    }
    uint32_t pending = 0;
    for (Operation *next = issued->getNextNode(); next && next != op;
         next = next->getNextNode()) {
      next->walk([&](nvx::WgmmaOp) { ++pending; });
    }
    rewriter.replaceOpWithNewOp<nvx::WgmmaWaitOp>(
        op, TypeRange{value.getType()}, pending, ValueRange{value});
    return success();
  }
};

} // namespace

void sm90::populateMmaPatterns(RewritePatternSet &patterns,
                               const TypeConverter &types) {
  patterns.add<MmaPattern, AwaitPattern>(types, patterns.getContext());
}
