// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns for ops that move elements between global memory and the threads
// that hold them. A thread has the pairs of columns 8 n + 2 (lane % 4) of each
// of its rows.
#ifndef ATTN_CODEGEN_SM90_MOVEPATTERN_H
#define ATTN_CODEGEN_SM90_MOVEPATTERN_H

#include "Patterns.h"
#include "SmemTile.h"
#include "attn/dialect/AccessMap.h"

namespace attn::codegen::sm90 {

/// A thread has two rows of a tile of 64, eight apart, which it shares with its
/// quad.
inline constexpr int64_t rowsPerThread = 2;

/// The elements of a group of a `grouped` tensor, and those of a lane in it.
inline constexpr int64_t perGroup = GroupOrder::rows * GroupOrder::columns,
                         perLane = perGroup / 32;

/// The elements of the groups that the warps of a warpgroup have together: of
/// 64 rows and eight columns, in a transposed tensor of eight rows and 64
/// columns.
inline constexpr int64_t perWarpgroup = GroupOrder::warps * perGroup;

/// Returns the columns of a tile of 64 rows of which each thread holds
/// `elements`.
inline int64_t columnsOf(int64_t elements) { return 2 * elements; }

/// Returns the number of this thread's row `i` in its warpgroup's tile.
inline mlir::Value threadRow(const Arithmetic &emit, int64_t i) {
  mlir::Value thread = emit.thread();
  mlir::Value warp = emit.bitAnd(emit.shiftRight(thread, 5), 3);
  mlir::Value quad = emit.bitAnd(emit.shiftRight(thread, 2), 7);
  return emit.add(emit.add(emit.mul(warp, 16), quad), 8 * i);
}

/// Returns the column of this thread's element `i` of a vector of columns: it
/// has two of every eight.
inline mlir::Value threadColumn(const Arithmetic &emit, int64_t i) {
  mlir::Value first = emit.mul(emit.bitAnd(emit.thread(), 3), 2);
  return emit.add(first, 8 * (i / 2) + i % 2);
}

/// With packed heads, the rows of a position are consecutive heads: computes
/// the head and the position of a row. An empty row gets a position beyond all
/// others.
inline void unpackRow(const Arithmetic &emit, int64_t packed, mlir::Value &head,
                      mlir::Value &row) {
  int64_t rows = AccessMap::rowsOfPosition(packed);
  if (rows == 1) {
    return;
  }
  mlir::Value within = emit.bitAnd(row, rows - 1);
  head = emit.add(emit.mul(head, packed), within);
  row = emit.shiftRight(row, llvm::Log2_64(rows));
  if (rows != packed) {
    mlir::Value isEmpty = mlir::arith::CmpIOp::create(
        emit.builder, emit.loc, mlir::arith::CmpIPredicate::uge, within,
        emit.constant(packed));
    row = mlir::arith::SelectOp::create(emit.builder, emit.loc, isEmpty,
                                        emit.constant(-1), row);
  }
}

/// The operands of an op that describe its tensor and the position in it.
struct Access {
  mlir::Value tensor, batch, head, row, part; // part may be null
  AccessMap map;
  mlir::Value column = {}; // the first, if it is not the tensor's
  bool isGrouped = false;
  int64_t transposed = 0;    // rows of a block of a transposed tensor, or 0
  int64_t columnsOfLane = 2; // one after the other, of those of its quad
};

/// A row of this thread: whether the tensor has it, and the address of the
/// thread's first column. A row out of bounds has the address of row 0.
struct ThreadRow {
  mlir::Value inside, pointer;
};

/// A pattern for an op that moves the elements of each thread.
template <typename Op> struct MovePattern : ParamPattern<Op> {
  using ParamPattern<Op>::ParamPattern;

protected:
  using ParamPattern<Op>::params;

  static Access accessOf(typename Op::Adaptor adaptor, mlir::Value tensor,
                         mlir::Value part, AccessMap map) {
    return {
        tensor, adaptor.getBatch(), adaptor.getHead(), adaptor.getRow(), part,
        map};
  }

  /// Returns row `ofTile`, counted from the op's first row.
  ThreadRow rowOf(const Arithmetic &emit, const Access &access,
                  mlir::Value ofTile, bool isTile) const;
  /// Returns this thread's part of the first group of its warp: of the warp's
  /// 16 rows and eight columns; in a transposed tensor, of eight rows and the
  /// warp's 16 columns.
  ThreadRow groupOf(const Arithmetic &emit, const Access &access) const;
  /// Returns the address of an element, counted from the first group of the
  /// op's rows; with a first column, from the group of that column.
  ThreadRow groupAt(const Arithmetic &emit, const Access &access,
                    mlir::Value element) const;

  /// Writes each of the thread's rows that is in bounds: row `i`, whose first
  /// column is at `pointer`.
  void writeRows(
      const Arithmetic &emit, const Access &access,
      llvm::function_ref<void(int64_t i, mlir::Value pointer)> write) const;
};

template <typename Op>
ThreadRow MovePattern<Op>::rowOf(const Arithmetic &emit, const Access &access,
                                 mlir::Value ofTile, bool isTile) const {
  mlir::OpBuilder &builder = emit.builder;
  mlir::Value row = emit.add(access.row, ofTile);
  mlir::Value head = access.head;
  unpackRow(emit, access.map.packedHeads, head, row);
  int64_t leading = access.part ? 1 : 0;
  unsigned position = access.map.dimOf(AccessMap::Position);
  mlir::Value rows = params.of(Param::Dim, access.tensor, leading + position);
  mlir::Value inside = mlir::arith::CmpIOp::create(
      builder, emit.loc, mlir::arith::CmpIPredicate::ult, row, rows);
  mlir::Value known = mlir::arith::SelectOp::create(builder, emit.loc, inside,
                                                    row, emit.constant(0));
  llvm::SmallVector<mlir::Value> indices(leading + (isTile ? 4 : 3));
  if (access.part) {
    indices[0] = access.part;
  }
  indices[leading + access.map.dimOf(AccessMap::Batch)] = access.batch;
  indices[leading + access.map.dimOf(AccessMap::Head)] = head;
  indices[leading + position] = known;
  if (isTile && access.isGrouped) {
    indices.back() = emit.constant(0);
  } else if (isTile) {
    indices.back() =
        emit.mul(emit.bitAnd(emit.thread(), 3), access.columnsOfLane);
    if (access.column) {
      indices.back() = emit.add(indices.back(), access.column);
    }
  }
  return {inside, elementPointer(emit, params, access.tensor, indices)};
}

/// Returns the address `elements` f32 after `pointer`.
inline mlir::Value pointerAfter(const Arithmetic &emit, mlir::Value pointer,
                                mlir::Value elements) {
  return mlir::LLVM::GEPOp::create(emit.builder, emit.loc, pointer.getType(),
                                   emit.builder.getF32Type(), pointer,
                                   llvm::ArrayRef<mlir::LLVM::GEPArg>{elements},
                                   mlir::LLVM::GEPNoWrapFlags::none);
}

template <typename Op>
ThreadRow MovePattern<Op>::groupAt(const Arithmetic &emit, const Access &access,
                                   mlir::Value element) const {
  ThreadRow first = rowOf(emit, access, emit.constant(0), /*isTile=*/true);
  if (access.column) {
    int64_t perColumn = access.transposed
                            ? access.transposed
                            : GroupOrder::warps * GroupOrder::rows;
    element = emit.add(element, emit.mul(access.column, perColumn));
  }
  return {first.inside, pointerAfter(emit, first.pointer, element)};
}

template <typename Op>
ThreadRow MovePattern<Op>::groupOf(const Arithmetic &emit,
                                   const Access &access) const {
  mlir::Value warp = emit.bitAnd(emit.shiftRight(emit.thread(), 5), 3);
  return groupAt(
      emit, access,
      emit.add(emit.mul(emit.lane(), perLane), emit.mul(warp, perGroup)));
}

template <typename Op>
void MovePattern<Op>::writeRows(
    const Arithmetic &emit, const Access &access,
    llvm::function_ref<void(int64_t i, mlir::Value pointer)> write) const {
  for (int64_t i = 0; i < rowsPerThread; ++i) {
    ThreadRow row = rowOf(emit, access, threadRow(emit, i), /*isTile=*/true);
    auto branch = mlir::scf::IfOp::create(emit.builder, emit.loc, row.inside,
                                          /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
    write(i, row.pointer);
  }
}

inline mlir::Type elementOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
}

/// Returns the number of pairs of columns in the tensor: a thread's registers
/// hold two columns of each of its rows in turn.
inline int64_t pairsOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType())
             .getShape()
             .back() /
         8;
}

/// Returns the address `elements` elements after another.
inline mlir::Value pointerAfter(const Arithmetic &emit, mlir::Value pointer,
                                mlir::Type element, int64_t elements) {
  return mlir::LLVM::GEPOp::create(
      emit.builder, emit.loc, pointer.getType(), element, pointer,
      llvm::ArrayRef<mlir::LLVM::GEPArg>{int32_t(elements)},
      mlir::LLVM::GEPNoWrapFlags::none);
}

} // namespace attn::codegen::sm90

#endif // ATTN_CODEGEN_SM90_MOVEPATTERN_H
