// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InstructionLowering.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {
// L2 eviction policies of a bulk copy (PTX ISA, createpolicy encodings).
constexpr int64_t evictFirst = 0x12F0000000000000;
constexpr int64_t evictLast = 0x14F0000000000000;
constexpr int64_t mmaDepth = 16; // k of one wgmma on 16-bit elements
/// Columns of one wgmma. Twice as many are no faster, and cost the assembler
/// more than two instructions (docs/adr/0019).
constexpr int64_t mmaColumns = 128;
} // namespace

Value InstructionLowering::paramOf(Param::Kind kind, Value tensor,
                                   int64_t dim) {
  unsigned argument = cast<BlockArgument>(tensor).getArgNumber();
  const Param *param = llvm::find(params, Param{kind, argument, dim, {}, {}});
  return function.getArgument(param - params.begin());
}

/// A result of the kernel's `tile.cut`.
Value InstructionLowering::cutParam(int64_t result) {
  const Param *param = llvm::find(params, Param{Param::Cut, 0, result, {}, {}});
  return function.getArgument(param - params.begin());
}

Value InstructionLowering::tid() {
  return NVVM::ThreadIdXOp::create(*builder, loc, builder->getI32Type());
}

/// Of this CTA, which has a row block of each of its cluster's items.
Value InstructionLowering::rankInCluster() {
  return nvx::ClusterRankOp::create(*builder, loc, builder->getI32Type());
}

/// The number of this CTA's, or this cluster's, first work item.
Value InstructionLowering::firstItem() {
  Type i32 = builder->getI32Type();
  return clusterSize() > 1
             ? NVVM::ClusterIdXOp::create(*builder, loc, i32).getResult()
             : NVVM::BlockIdXOp::create(*builder, loc, i32).getResult();
}

/// How many work items the grid works on at a time.
Value InstructionLowering::itemsInFlight() {
  Type i32 = builder->getI32Type();
  return clusterSize() > 1
             ? NVVM::ClusterDimXOp::create(*builder, loc, i32).getResult()
             : NVVM::GridDimXOp::create(*builder, loc, i32).getResult();
}

Value InstructionLowering::smemAddress(Value offset) {
  if (smemBase) {
    return add(smemBase, offset);
  }
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext(), 3);
  Value base = LLVM::AddressOfOp::create(*builder, loc, ptr, smemName);
  Value address =
      LLVM::PtrToIntOp::create(*builder, loc, builder->getI32Type(), base);
  return add(address, offset);
}

Value InstructionLowering::sharedPointer(Value address) {
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext(), 3);
  return LLVM::IntToPtrOp::create(*builder, loc, ptr, address);
}

/// Byte address of the tile in a slot.
Value InstructionLowering::slotAddress(Value slot) {
  auto at = slot.getDefiningOp<ws::SlotAtOp>();
  return smemAddress(values.lookupOrDefault(at.getOffset()));
}

Value InstructionLowering::descriptorLow(Value address, int64_t leadingBytes) {
  Value units = arith::ShRUIOp::create(*builder, loc, address, constant(4));
  Value low = arith::AndIOp::create(*builder, loc, units, constant(0x3FFF));
  return arith::OrIOp::create(*builder, loc, low,
                              constant(leadingBytes / 16 << 16));
}

LogicalResult InstructionLowering::lowerScalars(OpBuilder &at) {
  builder = &at;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (argument.getType().isIntOrFloat()) {
      Param wanted{Param::Scalar, argument.getArgNumber(), 0, {}, {}};
      if (llvm::is_contained(params, wanted)) {
        values.map(argument, paramOf(Param::Scalar, argument));
      }
    }
  }
  for (Operation &op : kernel.getBody().front()) {
    if (isa<ws::ChannelOp, ws::HoldOp, ws::StampsOp, ws::RoleOp, ws::SetupOp>(
            op)) {
      continue;
    }
    if (failed(lower(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult InstructionLowering::lowerBlock(Block &block, OpBuilder &at) {
  return lowerOps(llvm::make_range(block.begin(), block.end()), at);
}

LogicalResult
InstructionLowering::lowerOps(llvm::iterator_range<Block::iterator> ops,
                              OpBuilder &at) {
  OpBuilder *outer = builder;
  builder = &at;
  for (Operation &op : ops) {
    if (!isa<scf::YieldOp>(op) && failed(lower(&op))) {
      return failure();
    }
  }
  builder = outer ? outer : &at;
  return success();
}

LogicalResult InstructionLowering::lower(Operation *op) {
  loc = op->getLoc();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ws::WorkLoopOp op) { return lowerWorkLoop(op); })
      .Case([&](scf::ForOp op) { return lowerFor(op); })
      .Case([&](scf::IfOp op) { return lowerIf(op); })
      .Case([&](tile::BoundsOp op) { return lowerBounds(op); })
      .Case([&](ws::MmaOp op) { return lowerMma(op); })
      .Case([&](ws::AwaitOp op) { return lowerAwait(op); })
      .Case([&](tile::NextWorkOp op) { return lowerNextWork(op), success(); })
      .Case([&](ws::PutWorkOp op) { return lowerPutWork(op), success(); })
      .Case([&](ws::GetWorkOp op) { return lowerGetWork(op), success(); })
      .Case([&](ws::FetchWorkOp op) { return lowerFetchWork(op), success(); })
      .Case([&](ws::StampOp op) { return lowerStamp(op), success(); })
      .Case([&](ws::CopyOp op) { return lowerCopy(op), success(); })
      .Case([&](ws::StoreOp op) { return lowerStore(op), success(); })
      .Case([&](ws::PutOp op) { return lowerPut(op), success(); })
      .Case([&](tile::StoreRowOp op) { return lowerStoreRow(op), success(); })
      .Case([&](tile::GatherOp op) { return lowerGather(op), success(); })
      .Case([&](ws::SlotAtOp) { return success(); })
      .Case([&](tensor::DimOp) { return success(); })
      .Case([&](tile::IsRedoOp op) { return lowerIsRedo(op), success(); })
      .Case([&](tile::JoinOp op) { return lowerJoin(op), success(); })
      .Case([&](tile::CutOp op) {
        values.map(op.getWhole(), cutParam(0));
        values.map(op.getParts(), cutParam(1));
        return success();
      })
      .Case([&](tile::PartOfOp op) {
        Part part = partOf(op.getWork());
        values.map(op.getPart(), part.part);
        values.map(op.getIsPart(), part.isPart);
        return success();
      })
      .Case([&](ws::VerdictSlotOp op) {
        values.map(op.getSlot(), verdictSlots.lookup(op.getWork()));
        return success();
      })
      .Case([&](ws::RunAgainOp op) {
        scf::ConditionOp::create(*builder, loc, values.lookup(op.getAgain()),
                                 ValueRange());
        return success();
      })
      .Case([&](tile::CoordsOfOp op) {
        for (auto [result, value] :
             llvm::zip(op->getResults(), works[op.getWork()])) {
          values.map(result, value);
        }
        return success();
      })
      .Case([&](LLVM::AllocaOp op) {
        // Counters become registers: they must stand in the entry block.
        OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
        Value one = arith::ConstantIntOp::create(entry, loc, 1, 32);
        values.map(op.getResult(),
                   LLVM::AllocaOp::create(entry, loc, op.getType(),
                                          op.getElemType(), one));
        return success();
      })
      .Case([&](ws::SmemOp op) {
        Value address = smemAddress(values.lookup(op.getOffset()));
        values.map(op.getAddress(), sharedPointer(address));
        return success();
      })
      .Case([&](arith::DivUIOp op) {
        auto known = divisors.find(values.lookup(op.getRhs()));
        if (known == divisors.end()) {
          builder->clone(*op, values);
        } else {
          values.map(
              op.getResult(),
              known->second.divide(*builder, loc, values.lookup(op.getLhs()))
                  .first);
        }
        return success();
      })
      .Case([&](arith::IndexCastOp op) -> LogicalResult {
        auto dim = op.getIn().getDefiningOp<tensor::DimOp>();
        if (!dim) {
          builder->clone(*op, values);
          return success();
        }
        values.map(op.getOut(), paramOf(Param::Dim, dim.getSource(),
                                        *dim.getConstantIndex()));
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (isa_and_nonnull<ws::WsDialect, tile::TileDialect,
                            tensor::TensorDialect>(op->getDialect())) {
          return op->emitOpError("attn-lower-to-nvvm: no lowering for this op");
        }
        builder->clone(*op, values);
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult InstructionLowering::lowerWorkLoop(ws::WorkLoopOp op) {
  item = firstItem();
  if (kernel.getConfig().getWork() == WorkKind::Grid) {
    return op.getRedo() ? lowerRedoLoop(op)
                        : lowerBlock(op.getBody().front(), *builder);
  }
  if (kernel.getConfig().getWork() == WorkKind::Dynamic) {
    return lowerHandedOut(op);
  }
  WorkExtents extents{values.lookup(op.getBlocks()),
                      values.lookup(op.getHeads()),
                      values.lookup(op.getBatches()), Value()};
  Value items = extents.count(*builder, loc);
  auto loop = scf::ForOp::create(*builder, loc, item, items, itemsInFlight());
  item = loop.getInductionVar();
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  return lowerBlock(op.getBody().front(), inner);
}

/// Runs the item, and again where `ws.run_again` says so.
LogicalResult InstructionLowering::lowerRedoLoop(ws::WorkLoopOp op) {
  Type flag = builder->getI1Type();
  Value no = arith::ConstantIntOp::create(*builder, loc, 0, 1);
  auto loop = scf::WhileOp::create(*builder, loc, TypeRange(), no);
  OpBuilder inner(builder->getContext());
  inner.createBlock(&loop.getAfter());
  Value yes = arith::ConstantIntOp::create(inner, loc, 1, 1);
  scf::YieldOp::create(inner, loc, yes);
  Block *before = inner.createBlock(&loop.getBefore(), {}, flag, loc);
  redoOfGrid = before->getArgument(0);
  return lowerBlock(op.getBody().front(), inner);
}

void InstructionLowering::lowerOwnedRows(tile::BoundsOp op) {
  int64_t tile = kernel.getConfig().getTileM();
  int64_t rows = op.getSubtile() ? tile / *op.getOf() : tile * clusterSize();
  for (auto owned : op.getBody().getOps<tile::OwnedRowsOp>()) {
    Value block = works[op.getWork()][0];
    if (!op.getSubtile() && clusterSize() > 1) {
      block =
          arith::AndIOp::create(*builder, loc, block, constant(-clusterSize()));
    }
    Value first = mul(block, tile);
    if (op.getSubtile()) {
      first = add(first, mul(values.lookup(op.getSubtile()), rows));
    }
    values.map(owned.getFirst(), first);
    values.map(owned.getRows(), constant(rows));
  }
}

LogicalResult InstructionLowering::lowerBounds(tile::BoundsOp op) {
  works[op.getBody().getArgument(0)] = works[op.getWork()];
  if (kernel.getConfig().getLastWaveParts() > 1) {
    partsOf[op.getBody().getArgument(0)] = partOf(op.getWork());
  }
  lowerOwnedRows(op);
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (!isa<tile::OwnedRowsOp>(inner) && failed(lower(&inner))) {
      return failure();
    }
  }
  Operation *yield = op.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip(op.getResults(), yield->getOperands())) {
    values.map(result, values.lookupOrDefault(value));
  }
  return success();
}

LogicalResult InstructionLowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs()) {
    inits.push_back(values.lookupOrDefault(init));
  }
  auto loop = scf::ForOp::create(*builder, loc,
                                 values.lookupOrDefault(op.getLowerBound()),
                                 values.lookupOrDefault(op.getUpperBound()),
                                 values.lookupOrDefault(op.getStep()), inits);
  Block *body = loop.getBody();
  if (!body->empty()) {
    body->back().erase();
  }
  values.map(op.getInductionVar(), loop.getInductionVar());
  values.map(op.getRegionIterArgs(), loop.getRegionIterArgs());
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  Value outerBase = smemBase;
  smemBase = nvx::SmemBaseOp::create(inner, loc, inner.getI32Type(), smemName);
  if (failed(lowerBlock(*op.getBody(), inner))) {
    return failure();
  }
  smemBase = outerBase;
  SmallVector<Value> yielded;
  for (Value value : op.getBody()->getTerminator()->getOperands()) {
    yielded.push_back(values.lookupOrDefault(value));
  }
  scf::YieldOp::create(inner, loc, yielded);
  values.map(op.getResults(), loop.getResults());
  return success();
}

LogicalResult InstructionLowering::lowerIf(scf::IfOp op) {
  bool hasElse = !op.getElseRegion().empty();
  auto branch =
      scf::IfOp::create(*builder, loc, op.getResultTypes(),
                        values.lookupOrDefault(op.getCondition()),
                        /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    if (from.empty()) {
      continue;
    }
    if (!to.front().empty()) {
      to.front().back().erase();
    }
    OpBuilder inner = OpBuilder::atBlockEnd(&to.front());
    if (failed(lowerBlock(from.front(), inner))) {
      return failure();
    }
    SmallVector<Value> yielded;
    for (Value value : from.front().getTerminator()->getOperands()) {
      yielded.push_back(values.lookupOrDefault(value));
    }
    scf::YieldOp::create(inner, loc, yielded);
  }
  values.map(op.getResults(), branch.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

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

Value InstructionLowering::elementPointer(Value tensor, ValueRange indices) {
  Value offset = arith::ConstantIntOp::create(*builder, loc, 0, 64);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value wide =
        arith::ExtSIOp::create(*builder, loc, builder->getI64Type(), index);
    Value scaled = arith::MulIOp::create(*builder, loc, wide,
                                         paramOf(Param::Stride, tensor, dim));
    offset = add(offset, scaled);
  }
  Value pointer = paramOf(Param::Pointer, tensor);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return LLVM::GEPOp::create(*builder, loc, pointer.getType(), element, pointer,
                             offset);
}

/// The first of this thread's two rows within a warpgroup.
Value InstructionLowering::threadRow() {
  auto binary = [&](auto create, Value a, int64_t b) -> Value {
    return decltype(create)::create(*builder, loc, a, constant(b));
  };
  Value thread = tid();
  Value warp = binary(arith::AndIOp(), binary(arith::ShRUIOp(), thread, 5), 3);
  Value quad = binary(arith::AndIOp(), binary(arith::ShRUIOp(), thread, 2), 7);
  return add(mul(warp, 16), quad);
}

/// One lane of each quad writes the row that the quad shares.
void InstructionLowering::lowerStoreRow(tile::StoreRowOp op) {
  Value rows = paramOf(Param::Dim, op.getDest(), 2);
  Value inQuad = arith::AndIOp::create(*builder, loc, tid(), constant(3));
  Value first = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::eq,
                                      inQuad, constant(0));
  Value tile = values.lookup(op.getTile());
  for (int64_t i = 0; i < 2; ++i) {
    Value row =
        add(values.lookup(op.getRow()), add(threadRow(), constant(8 * i)));
    Value head = values.lookup(op.getHead());
    if (auto packed = op.getPack()) {
      Value within =
          arith::AndIOp::create(*builder, loc, row, constant(*packed - 1));
      head = add(mul(head, *packed), within);
      row = arith::ShRUIOp::create(*builder, loc, row,
                                   constant(llvm::Log2_64(*packed)));
    }
    Value inside = arith::CmpIOp::create(*builder, loc,
                                         arith::CmpIPredicate::ult, row, rows);
    Value writes = arith::AndIOp::create(*builder, loc, first, inside);
    Value value =
        vector::ExtractOp::create(*builder, loc, tile, ArrayRef<int64_t>{i});
    // Outside of the branch, for both rows to share what they have in common.
    Value pointer =
        elementPointer(op.getDest(), {values.lookup(op.getBatch()), head, row});
    auto branch =
        scf::IfOp::create(*builder, loc, writes, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(*builder);
    builder->setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(*builder, loc, value, pointer);
  }
}

/// An element within bounds, or zero: the index is clamped, so that no address
/// outside the tensor is formed.
Value InstructionLowering::gatherElement(tile::GatherOp op,
                                         ValueRange indices) {
  Value inside;
  SmallVector<Value> clamped;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value size = paramOf(Param::Dim, op.getSource(), dim);
    Value ok = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult,
                                     index, size);
    inside = inside ? arith::AndIOp::create(*builder, loc, inside, ok) : ok;
    clamped.push_back(
        arith::SelectOp::create(*builder, loc, ok, index, constant(0)));
  }
  Type element =
      cast<RankedTensorType>(op.getSource().getType()).getElementType();
  Value loaded = LLVM::LoadOp::create(*builder, loc, element,
                                      elementPointer(op.getSource(), clamped));
  Value zero =
      arith::ConstantOp::create(*builder, loc, builder->getZeroAttr(element));
  return arith::SelectOp::create(*builder, loc, inside, loaded, zero);
}

void InstructionLowering::lowerGather(tile::GatherOp op) {
  auto vectorType = dyn_cast<VectorType>(op.getResult().getType());
  int64_t count = vectorType ? vectorType.getNumElements() : 1;
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> indices;
    for (Value index : op.getIndices()) {
      Value value = values.lookup(index);
      if (isa<VectorType>(value.getType())) {
        value = vector::ExtractOp::create(*builder, loc, value,
                                          ArrayRef<int64_t>{i});
      }
      indices.push_back(value);
    }
    elements.push_back(gatherElement(op, indices));
  }
  values.map(op.getResult(),
             vectorType ? vector::FromElementsOp::create(*builder, loc,
                                                         vectorType, elements)
                              .getResult()
                        : elements.front());
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

namespace {
/// Offsets of the k steps of an operand whose rows run along k (units of 16
/// bytes).
SmallVector<int32_t> stepsAlongRow(SmemTile tile) {
  SmallVector<int32_t> offsets;
  for (int64_t k = 0; k < tile.columns; k += mmaDepth) {
    int64_t bytes = k / tile.panelColumns() * tile.panelBytes() +
                    k % tile.panelColumns() * SmemTile::elementBytes;
    offsets.push_back(bytes / 16);
  }
  return offsets;
}
/// The same where k runs down the rows.
SmallVector<int32_t> stepsDownRows(SmemTile tile) {
  SmallVector<int32_t> offsets;
  for (int64_t k = 0; k < tile.rows; k += mmaDepth) {
    offsets.push_back(k * tile.spanBytes() / 16);
  }
  return offsets;
}
/// Offsets of the parts of D's columns, which lie along B's rows or, where
/// `transposed`, down them; none where D is one part.
SmallVector<int32_t> columnParts(SmemTile b, bool transposed) {
  int64_t columns = transposed ? b.rows : b.columns;
  if (columns == mmaColumns || columns % mmaColumns != 0) {
    return {};
  }
  int64_t bytes = transposed ? mmaColumns * b.spanBytes()
                             : mmaColumns / b.panelColumns() * b.panelBytes();
  SmallVector<int32_t> offsets;
  for (int64_t part = 0; part < columns / mmaColumns; ++part) {
    offsets.push_back(part * bytes / 16);
  }
  return offsets;
}
} // namespace

LogicalResult InstructionLowering::lowerMma(ws::MmaOp op) {
  SmemTile b(cast<ws::SlotType>(op.getB().getType()).getTile());
  SmallVector<int32_t> bSteps =
      op.getTransposeB() ? stepsAlongRow(b) : stepsDownRows(b);
  SmallVector<int32_t> bParts = columnParts(b, op.getTransposeB());
  Value bLow = descriptorLow(slotAddress(op.getB()),
                             op.getTransposeB() ? 16 : b.panelBytes());
  Value aOperand;
  IntegerAttr aHigh;
  DenseI32ArrayAttr aSteps;
  if (auto slot = dyn_cast<ws::SlotType>(op.getA().getType())) {
    SmemTile a(slot.getTile());
    Value address = slotAddress(op.getA());
    if (op.getPiece()) {
      address =
          add(address, mul(values.lookup(op.getPiece()), 64 * a.spanBytes()));
    }
    aOperand = descriptorLow(address, 16);
    aHigh = builder->getI32IntegerAttr(a.descriptorHigh());
    aSteps = builder->getDenseI32ArrayAttr(stepsAlongRow(a));
  } else {
    aOperand = values.lookup(op.getA());
  }
  Value acc = op.getAcc() ? values.lookup(op.getAcc()) : Value();
  UnitAttr transposed =
      op.getTransposeB() ? UnitAttr() : builder->getUnitAttr();
  bool isHalf = op.getB().getType().getTile().getElementType().isF16();
  auto element = isHalf ? nvx::ElementType::F16 : nvx::ElementType::BF16;
  auto wgmma = nvx::WgmmaOp::create(
      *builder, loc, op.getResult().getType(), element, aOperand, bLow, acc,
      aHigh, builder->getI32IntegerAttr(b.descriptorHigh()), aSteps,
      builder->getDenseI32ArrayAttr(bSteps),
      bParts.empty() ? nullptr : builder->getDenseI32ArrayAttr(bParts),
      UnitAttr(), transposed);
  values.map(op.getResult(), wgmma.getResult());
  issueOrder[op.getToken()] = issued++;
  return success();
}

/// Groups complete in order: as many may stay pending as were issued after.
LogicalResult InstructionLowering::lowerAwait(ws::AwaitOp op) {
  auto found = issueOrder.find(op.getToken());
  if (found == issueOrder.end()) {
    return op.emitOpError(
        "attn-lower-to-nvvm: expected the MMA of this token in "
        "the code before");
  }
  uint32_t pending = issued - 1 - found->second;
  Value value = values.lookup(op.getValue());
  auto wait = nvx::WgmmaWaitOp::create(
      *builder, loc, TypeRange{value.getType()}, pending, ValueRange{value});
  values.map(op.getResult(), wait.getResult(0));
  return success();
}
