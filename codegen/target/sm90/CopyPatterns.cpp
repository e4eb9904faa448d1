// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies of tiles between global and shared memory.
#include "Patterns.h"
#include "SmemTile.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::codegen::sm90::SmemTile;

namespace {
// L2 eviction policies of a bulk copy (PTX ISA, createpolicy encodings).
constexpr int64_t evictFirst = 0x12F0000000000000;
constexpr int64_t evictLast = 0x14F0000000000000;

/// The position of a tile in a tensor.
struct TilePosition {
  Value batch, head, row;
};

/// One copy: its start in the tensor map and, in bytes, in the tile.
struct Box {
  SmallVector<Value> coordinates;
  int64_t offset;
};

/// The copies that move a tile.
class TileBoxes {
public:
  TileBoxes(const Arithmetic &emit, SmemTile tile, Value tensor, AffineMap map)
      : emit(emit), tile(tile),
        columns(cast<RankedTensorType>(tensor.getType()).getDimSize(3)),
        access(*AccessMap::parse(map)) {}

  /// Returns the copies of the whole tile, or, if `ctas` CTAs copy it, of this
  /// CTA's share.
  SmallVector<Box> at(TilePosition position, int64_t ctas = 1) const;

private:
  SmallVector<Box> packedAt(TilePosition position) const;

  const Arithmetic &emit;
  SmemTile tile;
  int64_t columns;
  AccessMap access;
};
} // namespace

/// Returns the number of the CTA in its cluster.
static Value rankInCluster(const Arithmetic &emit) {
  return nvx::ClusterRankOp::create(emit.builder, emit.loc,
                                    emit.builder.getI32Type());
}

/// With packed heads, the rows of a position are consecutive heads. If
/// positions have empty rows, the heads of a group are a dimension of the map,
/// within which a copy ends.
SmallVector<Box> TileBoxes::packedAt(TilePosition position) const {
  Value zero = emit.constant(0);
  Value head = access.hasEmptyRows()
                   ? zero
                   : emit.mul(position.head, access.packedHeads);
  Value row =
      emit.shiftRight(position.row, llvm::Log2_64(access.rowsOfPosition()));
  if (tile.isOneCopy(columns) && !access.hasEmptyRows()) {
    return {{{zero, head, row, zero, position.batch}, 0}};
  }
  SmallVector<Box> boxes;
  for (int64_t panel = 0; panel < tile.panels(); ++panel) {
    Value column = emit.constant(panel * tile.panelColumns());
    SmallVector<Value> coordinates{column, head, row};
    if (access.hasEmptyRows()) {
      coordinates.push_back(position.head);
    }
    coordinates.push_back(position.batch);
    boxes.push_back({coordinates, panel * tile.panelBytes()});
  }
  return boxes;
}

SmallVector<Box> TileBoxes::at(TilePosition position, int64_t ctas) const {
  if (access.packedHeads > 1) {
    return packedAt(position);
  }
  Value zero = emit.constant(0);
  int64_t panels = tile.panels();
  SmemTile::Copy copy = tile.copyOf(columns, ctas);
  Value ownPanels; // the first row of this CTA, or null for that of the tile
  if (ctas > 1 && tile.isSharedByPanels(ctas)) {
    panels /= ctas;
    ownPanels = emit.mul(rankInCluster(emit), panels);
  } else if (ctas > 1) {
    position.row =
        emit.add(position.row, emit.mul(rankInCluster(emit), copy.rows));
  }
  auto atPanel = [&](int64_t panel, int64_t unit) -> Value {
    Value offset = panel * unit == 0 ? zero : emit.constant(panel * unit);
    return ownPanels ? emit.add(emit.mul(ownPanels, unit), offset) : offset;
  };
  SmallVector<Box> boxes;
  for (int64_t panel = 0; panel < panels; panel += copy.panels) {
    int64_t offset = panel * tile.panelBytes();
    if (tile.isOneCopy(columns)) {
      boxes.push_back({{zero, position.row, atPanel(panel, 1), position.head,
                        position.batch},
                       offset});
    } else {
      Value column = atPanel(panel, tile.panelColumns());
      boxes.push_back(
          {{column, position.row, position.head, position.batch}, offset});
    }
  }
  return boxes;
}

namespace {

struct CopyPattern : ParamPattern<ws::CopyOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(ws::CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Value address = smemAddress(rewriter, op.getLoc(), adaptor.getSlot());
    if (!op.getMap()) {
      copyRow(emit, op, adaptor, address);
      rewriter.eraseOp(op);
      return success();
    }
    SmemTile tile(op.getSlot().getType().getTile());
    int64_t ctas = sharersOf(op->getParentOfType<ws::KernelOp>(), op.getSlot());
    Value receivers; // null for this CTA
    if (ctas > 1) {
      address = emit.add(address, shareOffset(emit, tile, ctas));
      receivers = arith::ConstantIntOp::create(rewriter, op.getLoc(),
                                               (1 << ctas) - 1, 16);
    }
    TileBoxes boxes(emit, tile, op.getSource(), *op.getMap());
    TilePosition position{adaptor.getBatch(), adaptor.getHead(),
                          adaptor.getRow()};
    MLIRContext *context = rewriter.getContext();
    Value hint = arith::ConstantIntOp::create(
        rewriter, op.getLoc(), op.getShared() ? evictLast : evictFirst, 64);
    for (const Box &box : boxes.at(position, ctas)) {
      Value at = box.offset ? emit.add(address, box.offset) : address;
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, op.getLoc(), clusterPointer(emit, at),
          params.of(Param::TensorMap, op.getSource()), box.coordinates,
          adaptor.getBarrier(), ValueRange{}, receivers, hint,
          NVVM::TMALoadModeAttr::get(context, NVVM::TMALoadMode::TILE),
          rewriter.getBoolAttr(false), NVVM::CTAGroupKindAttr(), Value());
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value clusterPointer(const Arithmetic &emit, Value address) {
    return LLVM::AddrSpaceCastOp::create(
        emit.builder, emit.loc,
        LLVM::LLVMPointerType::get(emit.builder.getContext(), 7),
        sharedPointer(emit.builder, emit.loc, address));
  }

  /// Copies a row vector, whose elements are consecutive.
  void copyRow(const Arithmetic &emit, ws::CopyOp op, OpAdaptor adaptor,
               Value address) const {
    Value first = elementPointer(
        emit, params, op.getSource(),
        {adaptor.getBatch(), adaptor.getHead(), adaptor.getRow()});
    int64_t bytes = ws::tileBytes(op.getSlot().getType().getTile());
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
        emit.builder, emit.loc, clusterPointer(emit, address), first,
        adaptor.getBarrier(), emit.constant(bytes), Value(), Value());
  }

  /// Returns the offset of this CTA's share of a tile, in bytes.
  static Value shareOffset(const Arithmetic &emit, SmemTile tile,
                           int64_t ctas) {
    int64_t bytes = tile.isSharedByPanels(ctas)
                        ? tile.panels() / ctas * tile.panelBytes()
                        : tile.panelBytes() / ctas;
    return emit.mul(rankInCluster(emit), bytes);
  }
};

struct StorePattern : ParamPattern<ws::StoreOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(ws::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    auto kernel = op->getParentOfType<ws::KernelOp>();
    auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
    SmemTile tile(cast<RankedTensorType>(hold.getType()));
    Value address =
        smemAddress(rewriter, loc, pieceOffset(emit, hold, adaptor.getPiece()));
    TileBoxes boxes(emit, tile, op.getDest(), op.getMap());
    TilePosition position{adaptor.getBatch(), adaptor.getHead(),
                          adaptor.getRow()};
    Value hint;
    if (kernel.getSchedule().getStoreHint() == StoreHint::EvictFirst) {
      hint = arith::ConstantIntOp::create(rewriter, loc, evictFirst, 64);
    }
    for (const Box &box : boxes.at(position)) {
      Value at = box.offset ? emit.add(address, box.offset) : address;
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          rewriter, loc, params.of(Param::TensorMap, op.getDest()),
          sharedPointer(rewriter, loc, at), box.coordinates, hint,
          NVVM::TMAStoreModeAttr::get(rewriter.getContext(),
                                      NVVM::TMAStoreMode::TILE),
          Value());
    }
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkCommitGroupOp>(op);
    return success();
  }
};

} // namespace

void sm90::populateCopyPatterns(RewritePatternSet &patterns,
                                const TypeConverter &types,
                                const ParamValues &params) {
  patterns.add<CopyPattern, StorePattern>(types, patterns.getContext(), params);
}
