// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single elements of global memory: rows that are stored, and gathers.
#include "InstructionLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// An element as memory holds it: a byte for an i1, and no sign.
static Type storedType(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
         : element.isInteger()
             ? IntegerType::get(element.getContext(),
                                element.getIntOrFloatBitWidth())
             : element;
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
  Type element = storedType(tensor);
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
  Value rows = paramOf(Param::Dim, op.getDest(), op.getPart() ? 3 : 2);
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
    SmallVector<Value> indices{values.lookup(op.getBatch()), head, row};
    if (op.getPart()) {
      indices.insert(indices.begin(), values.lookup(op.getPart()));
    }
    Value pointer = elementPointer(op.getDest(), indices);
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
  Type stored = storedType(op.getSource());
  Value zero =
      arith::ConstantOp::create(*builder, loc, builder->getZeroAttr(stored));
  Value loaded = LLVM::LoadOp::create(*builder, loc, stored,
                                      elementPointer(op.getSource(), clamped));
  Value value = arith::SelectOp::create(*builder, loc, inside, loaded, zero);
  Type element = getElementTypeOrSelf(op.getResult());
  if (element.isInteger(1)) {
    return arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ne, value,
                                 zero);
  }
  return element == stored
             ? value
             : arith::ExtFOp::create(*builder, loc, element, value);
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
