// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles and row vectors between global memory and the threads that hold them.
// A thread has two rows of a tile, eight apart, and of each row the pairs of
// columns 8 n + 2 (lane % 4).
#include "InstructionLowering.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

constexpr int64_t rowsPerThread = 2;

/// What an op says of its tensor and the place in it.
struct Access {
  Value tensor, batch, head, row, part;
  AccessMap map;
};

template <typename Op> Access accessOf(Op op, Value tensor, Value part) {
  return {tensor,      op.getBatch(), op.getHead(),
          op.getRow(), part,          *AccessMap::parse(op.getMap())};
}

} // namespace

/// Row `i` of this thread: whether the tensor has it, and the address of the
/// thread's first column. A row that the tensor lacks has the address of row 0.
struct InstructionLowering::ThreadRow {
  Value inside, pointer;
};

template <typename AccessT>
InstructionLowering::ThreadRow
InstructionLowering::rowOfThread(const AccessT &access, int64_t i,
                                 bool isTile) {
  Value row = add(values.lookup(access.row), add(threadRow(), constant(8 * i)));
  Value head = values.lookup(access.head);
  if (int64_t packed = access.map.packedHeads; packed > 1) {
    Value within =
        arith::AndIOp::create(*builder, loc, row, constant(packed - 1));
    head = add(mul(head, packed), within);
    row = arith::ShRUIOp::create(*builder, loc, row,
                                 constant(llvm::Log2_64(packed)));
  }
  int64_t leading = access.part ? 1 : 0;
  unsigned position = access.map.dimOf(AccessMap::Position);
  Value rows = paramOf(Param::Dim, access.tensor, leading + position);
  Value inside = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult,
                                       row, rows);
  Value known =
      arith::SelectOp::create(*builder, loc, inside, row, constant(0));
  SmallVector<Value> indices(leading + (isTile ? 4 : 3));
  if (access.part) {
    indices[0] = values.lookup(access.part);
  }
  indices[leading + access.map.dimOf(AccessMap::Batch)] =
      values.lookup(access.batch);
  indices[leading + access.map.dimOf(AccessMap::Head)] = head;
  indices[leading + position] = known;
  if (isTile) {
    Value inQuad = arith::AndIOp::create(*builder, loc, tid(), constant(3));
    indices.back() = mul(inQuad, 2);
  }
  return {inside, elementPointer(access.tensor, indices)};
}

/// The pairs of columns that a tensor of `columns` has: a thread's registers
/// hold two of each of its rows in turn.
static int64_t pairsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape().back() / 8;
}

/// The address of pair `n` of a row.
Value InstructionLowering::pairPointer(Value rowPointer, Type element,
                                       int64_t n) {
  return LLVM::GEPOp::create(*builder, loc, rowPointer.getType(), element,
                             rowPointer, ArrayRef<LLVM::GEPArg>{int32_t(8 * n)},
                             LLVM::GEPNoWrapFlags::none);
}

/// A pair as one value: 16-bit elements share a register.
static bool isPacked(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth() ==
         16;
}

void InstructionLowering::lowerStoreReg(tile::StoreRegOp op) {
  Value tile = values.lookup(op.getTile()), dest = op.getDest();
  Type element = cast<RankedTensorType>(dest.getType()).getElementType();
  for (int64_t i = 0; i < rowsPerThread; ++i) {
    ThreadRow row = rowOfThread(accessOf(op, dest, op.getPart()), i, true);
    auto branch =
        scf::IfOp::create(*builder, loc, row.inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(*builder);
    builder->setInsertionPointToStart(branch.thenBlock());
    for (int64_t n = 0; n < pairsOf(dest); ++n) {
      int64_t pair = rowsPerThread * n + i;
      Value value = isPacked(dest)
                        ? vector::ExtractOp::create(*builder, loc, tile,
                                                    ArrayRef<int64_t>{pair})
                              .getResult()
                        : vector::ExtractStridedSliceOp::create(
                              *builder, loc, tile, ArrayRef<int64_t>{2 * pair},
                              ArrayRef<int64_t>{2}, ArrayRef<int64_t>{1});
      LLVM::StoreOp::create(*builder, loc, value,
                            pairPointer(row.pointer, element, n));
    }
  }
}

/// Sums go to memory in any order, an element at a time.
void InstructionLowering::lowerReduceAdd(tile::ReduceAddOp op) {
  Value tile = values.lookup(op.getTile()), dest = op.getDest();
  Type element = builder->getF32Type();
  for (int64_t i = 0; i < rowsPerThread; ++i) {
    ThreadRow row = rowOfThread(accessOf(op, dest, Value()), i, true);
    auto branch =
        scf::IfOp::create(*builder, loc, row.inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(*builder);
    builder->setInsertionPointToStart(branch.thenBlock());
    for (int64_t r = 0; r < 2 * pairsOf(dest); ++r) {
      int64_t n = r / 2, half = r % 2;
      Value value = vector::ExtractOp::create(
          *builder, loc, tile,
          ArrayRef<int64_t>{2 * (rowsPerThread * n + i) + half});
      Value pair = pairPointer(row.pointer, element, n);
      Value pointer = LLVM::GEPOp::create(
          *builder, loc, pair.getType(), element, pair,
          ArrayRef<LLVM::GEPArg>{int32_t(half)}, LLVM::GEPNoWrapFlags::none);
      LLVM::AtomicRMWOp::create(*builder, loc, LLVM::AtomicBinOp::fadd, pointer,
                                value, LLVM::AtomicOrdering::monotonic,
                                "device");
    }
  }
}

/// Rows and columns that the tensor lacks are zero.
void InstructionLowering::lowerLoad(tile::LoadOp op) {
  Value source = op.getSource();
  auto type = cast<VectorType>(op.getTile().getType());
  Type element = cast<RankedTensorType>(source.getType()).getElementType();
  int64_t perPair = isPacked(source) ? 1 : 2;
  Type pairType = isPacked(source) ? Type(builder->getI32Type())
                                   : VectorType::get({2}, element);
  Value zero = arith::ConstantOp::create(
      *builder, loc, builder->getZeroAttr(type.getElementType()));
  SmallVector<Value> elements(type.getNumElements(), zero);
  for (int64_t i = 0; i < rowsPerThread; ++i) {
    ThreadRow row = rowOfThread(accessOf(op, source, op.getPart()), i, true);
    for (int64_t n = 0; n < pairsOf(source); ++n) {
      Value pair = LLVM::LoadOp::create(*builder, loc, pairType,
                                        pairPointer(row.pointer, element, n));
      for (int64_t half = 0; half < perPair; ++half) {
        Value value = perPair == 1
                          ? pair
                          : vector::ExtractOp::create(*builder, loc, pair,
                                                      ArrayRef<int64_t>{half});
        elements[perPair * (rowsPerThread * n + i) + half] =
            arith::SelectOp::create(*builder, loc, row.inside, value, zero);
      }
    }
  }
  values.map(op.getTile(),
             vector::FromElementsOp::create(*builder, loc, type, elements));
}

/// All lanes of a quad load the rows that they share.
void InstructionLowering::lowerLoadRow(tile::LoadRowOp op) {
  auto type = cast<VectorType>(op.getTile().getType());
  Type element = type.getElementType();
  Value zero =
      arith::ConstantOp::create(*builder, loc, builder->getZeroAttr(element));
  Access access{op.getSource(),
                op.getBatch(),
                op.getHead(),
                op.getRow(),
                op.getPart(),
                {{AccessMap::Batch, AccessMap::Head, AccessMap::Position,
                  AccessMap::Dim}}};
  SmallVector<Value> elements;
  for (int64_t i = 0; i < rowsPerThread; ++i) {
    ThreadRow row = rowOfThread(access, i, false);
    Value value = LLVM::LoadOp::create(*builder, loc, element, row.pointer);
    elements.push_back(
        arith::SelectOp::create(*builder, loc, row.inside, value, zero));
  }
  values.map(op.getTile(),
             vector::FromElementsOp::create(*builder, loc, type, elements));
}
