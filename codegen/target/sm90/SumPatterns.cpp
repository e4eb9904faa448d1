// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Additions of tiles to sums in memory, and the turns that order them.
#include "MovePattern.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using namespace attn::codegen::sm90;

namespace {

/// Emits the additions of a tile, or, where `first` is true, its stores.
void addOrStore(const Arithmetic &emit, Value first,
                function_ref<void(bool isStore)> write) {
  if (!first) {
    return write(/*isStore=*/false);
  }
  OpBuilder &builder = emit.builder;
  auto branch = scf::IfOp::create(builder, emit.loc, first,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  write(/*isStore=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  write(/*isStore=*/false);
}

/// Adds to memory in any order, a pair of columns at a time, or those of both
/// rows.
struct ReduceAddPattern : MovePattern<tile::ReduceAddOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(tile::ReduceAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    Access access = accessOf(adaptor, op.getDest(), Value(),
                             *AccessMap::parse(op.getMap()));
    access.column = adaptor.getColumn();
    access.isGrouped = op.getGrouped();
    Type element = rewriter.getF32Type();
    int64_t elements =
        cast<VectorType>(adaptor.getTile().getType()).getNumElements();
    access.transposed = op.getTransposed() ? columnsOf(elements) : 0;
    int64_t pairs = op.getColumn() || op.getTransposed()
                        ? elements / 2 / rowsPerThread
                        : pairsOf(op.getDest());
    auto write = [&](int64_t first, int64_t count, Value pointer,
                     bool isStore) {
      Value values = vector::ExtractStridedSliceOp::create(
          rewriter, loc, adaptor.getTile(), ArrayRef<int64_t>{first},
          ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
      if (isStore) {
        LLVM::StoreOp::create(rewriter, loc, values, pointer,
                              /*alignment=*/unsigned(4 * count));
      } else {
        nvx::ReduceAddOp::create(rewriter, loc, values, pointer);
      }
    };
    if (!access.isGrouped) {
      writeRows(emit, access, [&](int64_t i, Value pointer) {
        addOrStore(emit, adaptor.getFirst(), [&](bool isStore) {
          for (int64_t n = 0; n < pairs; ++n) {
            write(2 * (rowsPerThread * n + i), 2,
                  pointerAfter(emit, pointer, element, 8 * n), isStore);
          }
        });
      });
      rewriter.eraseOp(op);
      return success();
    }
    ThreadRow part = groupOf(emit, access);
    auto branch = scf::IfOp::create(rewriter, loc, part.inside,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    addOrStore(emit, adaptor.getFirst(), [&](bool isStore) {
      for (int64_t n = 0; n < pairs; ++n) {
        write(perLane * n, perLane,
              pointerAfter(emit, part.pointer, element, perWarpgroup * n),
              isStore);
      }
    });
    rewriter.eraseOp(op);
    return success();
  }
};

/// A role of one thread adds a piece at once, which is consecutive in a hold
/// and in memory. In the role that puts it, a lane adds the groups of its warp.
struct BulkReduceAddPattern : MovePattern<ws::ReduceAddOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(ws::ReduceAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    Access access = accessOf(adaptor, op.getDest(), Value(),
                             *AccessMap::parse(op.getMap()));
    access.column = adaptor.getColumn();
    access.isGrouped = true;
    auto kernel = op->getParentOfType<ws::KernelOp>();
    auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
    int64_t columns = cast<RankedTensorType>(hold.getType()).getDimSize(1);
    access.transposed = op.getTransposed() ? columns : 0;
    Value piece =
        smemAddress(rewriter, loc, pieceOffset(emit, hold, adaptor.getPiece()));
    int64_t groups = columns / GroupOrder::columns;
    if (op->getParentOfType<ws::RoleOp>().isSingleThread()) {
      addGroups(emit, groupAt(emit, access, emit.constant(0)), piece,
                groups * GroupOrder::warpgroupBytes, 1);
    } else {
      Value warp = emit.bitAnd(emit.shiftRight(emit.thread(), 5), 3);
      addGroups(emit, groupOf(emit, access),
                emit.add(piece, emit.mul(warp, GroupOrder::bytes)),
                GroupOrder::bytes, groups);
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Adds `count` times `bytes`, one in each warpgroup's groups of the same
  /// columns, in shared memory and in the tensor. All rows of a tile are in it,
  /// or none.
  static void addGroups(const Arithmetic &emit, ThreadRow part, Value source,
                        int64_t bytes, int64_t count) {
    OpBuilder &builder = emit.builder;
    auto branch = scf::IfOp::create(builder, emit.loc, part.inside,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    for (int64_t n = 0; n < count; ++n) {
      nvx::BulkReduceAddOp::create(
          builder, emit.loc, bytes,
          sharedPointer(builder, emit.loc,
                        emit.add(source, n * GroupOrder::warpgroupBytes)),
          pointerAfter(emit, part.pointer, builder.getF32Type(),
                       n * perWarpgroup));
    }
  }
};

/// Returns the address of a turn, with few registers: a thread beside the load
/// has 24. Offsets have 32 bits, as there are fewer turns than bytes of sums by
/// a factor of hundreds.
template <typename Op, typename Adaptor>
static Value turnPointer(ConversionPatternRewriter &rewriter,
                         const ParamValues &params, Op op, Adaptor adaptor) {
  Location loc = op.getLoc();
  Value turns = op.getTurns(), offset;
  Value indices[] = {adaptor.getBatch(), adaptor.getHead(), adaptor.getRow()};
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value stride =
        LLVM::TruncOp::create(rewriter, loc, rewriter.getI32Type(),
                              params.of(Param::Stride, turns, int64_t(dim)));
    Value part = arith::MulIOp::create(rewriter, loc, index, stride);
    offset = offset ? arith::AddIOp::create(rewriter, loc, offset, part) : part;
  }
  Value pointer = params.of(Param::Pointer, turns);
  return LLVM::GEPOp::create(
      rewriter, loc, pointer.getType(), storedType(turns), pointer,
      LLVM::ZExtOp::create(rewriter, loc, rewriter.getI64Type(), offset)
          .getResult());
}

struct TurnWaitPattern : ParamPattern<tile::TurnWaitOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::TurnWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<nvx::TurnWaitOp>(
        op, adaptor.getTurn(), turnPointer(rewriter, params, op, adaptor),
        adaptor.getWaits());
    return success();
  }
};

struct TurnPassPattern : ParamPattern<tile::TurnPassOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::TurnPassOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<nvx::TurnPassOp>(
        op, adaptor.getTurn(), turnPointer(rewriter, params, op, adaptor));
    return success();
  }
};

} // namespace

void sm90::populateSumPatterns(RewritePatternSet &patterns,
                               const TypeConverter &types,
                               const ParamValues &params) {
  patterns.add<ReduceAddPattern, BulkReduceAddPattern, TurnWaitPattern,
               TurnPassPattern>(types, patterns.getContext(), params);
}
