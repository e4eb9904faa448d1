// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles between global and shared memory, in bulk copies, and from registers to
// shared memory.
#include "../common/InstructionLowering.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {
// L2 eviction policies of a bulk copy (PTX ISA, createpolicy encodings).
constexpr int64_t evictFirst = 0x12F0000000000000;
constexpr int64_t evictLast = 0x14F0000000000000;
} // namespace

/// The copies that move a tile whose rows are packed heads: those of a position
/// follow one another, inside of it.
SmallVector<InstructionLowering::Box>
InstructionLowering::packedBoxesOf(SmemTile tile, int64_t columns, Place at,
                                   int64_t packed) {
  Value zero = constant(0), batch = values.lookup(at.batch);
  Value head = mul(values.lookup(at.head), packed);
  Value row = arith::ShRUIOp::create(*builder, loc, values.lookup(at.row),
                                     constant(llvm::Log2_64(packed)));
  if (tile.isOneCopy(columns)) {
    return {{{zero, head, row, zero, batch}, 0}};
  }
  SmallVector<Box> boxes;
  for (int64_t panel = 0; panel < tile.panels(); ++panel) {
    boxes.push_back({{constant(panel * tile.panelColumns()), head, row, batch},
                     panel * tile.panelBytes()});
  }
  return boxes;
}

/// The copies that move a tile, or this CTA's share of it, and where each
/// starts in the tensor map and in the tile.
SmallVector<InstructionLowering::Box>
InstructionLowering::boxesOf(SmemTile tile, Value tensor, Place at,
                             int64_t ctas) {
  int64_t columns = cast<RankedTensorType>(tensor.getType()).getDimSize(3);
  Value row = values.lookup(at.row), head = values.lookup(at.head),
        batch = values.lookup(at.batch), zero = constant(0);
  int64_t packed = AccessMap::parse(at.map)->packedHeads;
  if (packed > 1) {
    return packedBoxesOf(tile, columns, at, packed);
  }
  int64_t panels = tile.panels();
  SmemTile::Copy copy = tile.copyOf(columns, ctas);
  Value ownPanels; // the first of this CTA's; null: of the tile's
  if (ctas > 1 && tile.isSharedByPanels(ctas)) {
    panels /= ctas;
    ownPanels = mul(rankInCluster(), panels);
  } else if (ctas > 1) {
    row = add(row, mul(rankInCluster(), copy.rows));
  }
  auto atPanel = [&](int64_t panel, int64_t unit) -> Value {
    Value offset = panel * unit == 0 ? zero : constant(panel * unit);
    return ownPanels ? add(mul(ownPanels, unit), offset) : offset;
  };
  SmallVector<Box> boxes;
  for (int64_t panel = 0; panel < panels; panel += copy.panels) {
    int64_t offset = panel * tile.panelBytes();
    if (tile.isOneCopy(columns)) {
      boxes.push_back({{zero, row, atPanel(panel, 1), head, batch}, offset});
    } else {
      Value column = atPanel(panel, tile.panelColumns());
      boxes.push_back({{column, row, head, batch}, offset});
    }
  }
  return boxes;
}

/// Where this CTA's share of a tile starts, in bytes.
Value InstructionLowering::shareOffset(SmemTile tile, int64_t ctas) {
  int64_t bytes = tile.isSharedByPanels(ctas)
                      ? tile.panels() / ctas * tile.panelBytes()
                      : tile.panelBytes() / ctas;
  return mul(rankInCluster(), bytes);
}

void InstructionLowering::lowerCopy(ws::CopyOp op) {
  SmemTile tile(op.getSlot().getType().getTile());
  Value address = slotAddress(op.getSlot());
  int64_t ctas = sharersOf(kernel, op.getSlot());
  Value receivers; // null: this CTA
  if (ctas > 1) {
    address = add(address, shareOffset(tile, ctas));
    receivers =
        arith::ConstantIntOp::create(*builder, loc, (1 << ctas) - 1, 16);
  }
  auto clusterPtr = LLVM::LLVMPointerType::get(builder->getContext(), 7);
  Value hint = arith::ConstantIntOp::create(
      *builder, loc, op.getShared() ? evictLast : evictFirst, 64);
  for (const Box &box :
       boxesOf(tile, op.getSource(),
               {op.getRow(), op.getHead(), op.getBatch(), op.getMap()}, ctas)) {
    Value at = box.offset ? add(address, constant(box.offset)) : address;
    Value destination = LLVM::AddrSpaceCastOp::create(*builder, loc, clusterPtr,
                                                      sharedPointer(at));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        *builder, loc, destination, paramOf(Param::TensorMap, op.getSource()),
        box.coordinates, values.lookup(op.getBarrier()), ValueRange{},
        receivers, hint,
        NVVM::TMALoadModeAttr::get(builder->getContext(),
                                   NVVM::TMALoadMode::TILE),
        builder->getBoolAttr(false), NVVM::CTAGroupKindAttr(), Value());
  }
}

void InstructionLowering::lowerStore(ws::StoreOp op) {
  auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
  SmemTile tile(cast<RankedTensorType>(hold.getType()));
  Value piece = mul(values.lookup(op.getPiece()), hold.getPieceBytes());
  Value address = smemAddress(add(piece, constant(*hold.getOffset())));
  for (const Box &box :
       boxesOf(tile, op.getDest(),
               {op.getRow(), op.getHead(), op.getBatch(), op.getMap()})) {
    Value at = box.offset ? add(address, constant(box.offset)) : address;
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        *builder, loc, paramOf(Param::TensorMap, op.getDest()),
        sharedPointer(at), box.coordinates, Value(),
        NVVM::TMAStoreModeAttr::get(builder->getContext(),
                                    NVVM::TMAStoreMode::TILE),
        Value());
  }
  NVVM::CpAsyncBulkCommitGroupOp::create(*builder, loc);
}

/// Four 8x8 matrices an instruction: sixteen rows of a warp by sixteen columns.
void InstructionLowering::lowerPut(ws::PutOp op) {
  auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
  SmemTile tile(cast<RankedTensorType>(hold.getType()));
  MLIRContext *context = builder->getContext();
  auto binary = [&](auto create, Value a, int64_t b) -> Value {
    return decltype(create)::create(*builder, loc, a, constant(b));
  };
  Value thread = tid();
  Value warp = binary(arith::AndIOp(), binary(arith::ShRUIOp(), thread, 5), 3);
  Value row = add(mul(warp, 16), binary(arith::AndIOp(), thread, 15));
  Value high = binary(arith::AndIOp(), binary(arith::ShRUIOp(), thread, 4), 1);
  Value swizzle = binary(arith::AndIOp(),
                         binary(arith::ShRUIOp(), row, tile.swizzleRowShift()),
                         tile.chunksPerSpan() - 1);
  Value piece = mul(values.lookup(op.getPiece()), hold.getPieceBytes());
  Value base = smemAddress(add(piece, constant(*hold.getOffset())));
  base = add(base, mul(row, tile.spanBytes()));
  Value packed = values.lookup(op.getValue());
  for (int64_t k = 0; k < tile.columns / 16; ++k) {
    int64_t panel = 2 * k / tile.chunksPerSpan();
    Value chunk = binary(arith::OrIOp(), high, 2 * k % tile.chunksPerSpan());
    chunk = arith::XOrIOp::create(*builder, loc, chunk, swizzle);
    Value address = add(base, mul(chunk, SmemTile::chunkBytes));
    address = add(address, constant(panel * tile.panelBytes()));
    SmallVector<Value> registers;
    for (int64_t i = 0; i < 4; ++i) {
      registers.push_back(vector::ExtractOp::create(
          *builder, loc, packed, ArrayRef<int64_t>{4 * k + i}));
    }
    NVVM::StMatrixOp::create(
        *builder, loc, sharedPointer(address), registers,
        NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
        NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
        NVVM::LdStMatrixEltTypeAttr::get(context,
                                         NVVM::LdStMatrixEltType::B16));
  }
}
