// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products, and waits for them.
#include "../common/InstructionLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {
constexpr int64_t mmaDepth = 16; // k of one wgmma on 16-bit elements
/// Columns of one wgmma. Twice as many are no faster, and cost the assembler
/// more than two instructions (docs/adr/0019).
constexpr int64_t mmaColumns = 128;

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
  Value fresh = op.getFresh() ? values.lookup(op.getFresh()) : Value();
  UnitAttr transposed =
      op.getTransposeB() ? UnitAttr() : builder->getUnitAttr();
  bool isHalf = op.getB().getType().getTile().getElementType().isF16();
  auto element = isHalf ? nvx::ElementType::F16 : nvx::ElementType::BF16;
  auto wgmma = nvx::WgmmaOp::create(
      *builder, loc, op.getResult().getType(), element, aOperand, bLow, acc,
      fresh, aHigh, builder->getI32IntegerAttr(b.descriptorHigh()), aSteps,
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
