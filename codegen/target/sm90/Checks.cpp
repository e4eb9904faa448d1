// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The requirements of Hopper's patterns on roles, places and ops.
#include "../common/HoldPatterns.h"
#include "../common/TilePatterns.h"
#include "Patterns.h"
#include "Sm90.h"
#include "SmemTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::codegen::sm90::SmemTile;

namespace {
constexpr int64_t warpgroupWarps = 4;
/// The columns of a row that a quad holds together.
constexpr int64_t quadColumns = 8;
/// The rows of a warpgroup's tile, and those of a thread.
constexpr int64_t tileRows = 64, threadRows = 2;
} // namespace

/// An accumulator is in the registers of one warpgroup.
LogicalResult Sm90::checkRole(ws::RoleOp role, Error error) const {
  if (role.isSingleThread()) {
    if (role.getWarps() < warpgroupWarps && role.getReplicas() == 1) {
      return success();
    }
    return error() << "expected fewer than " << warpgroupWarps
                   << " warps and one replica, as one thread runs it, got "
                   << role.getReplicas() << " x " << role.getWarps()
                   << " warps";
  }
  if (role.getWarps() == warpgroupWarps) {
    return success();
  }
  return error() << "expected role '" << role.getSymName() << "' to have "
                 << warpgroupWarps << " warps, as it works on whole tiles, got "
                 << role.getWarps();
}

/// The tile must fit a swizzle of shared memory.
LogicalResult Sm90::checkSmemTile(RankedTensorType tile, Error error) const {
  if (tile.getDimSize(0) % 8 != 0 || tile.getDimSize(1) % 16 != 0) {
    return error() << "expected rows in multiples of 8 and columns of 16, got "
                   << tile;
  }
  constexpr int64_t maxBoxRows = 256; // of one copy
  if (tile.getDimSize(0) > maxBoxRows) {
    return error() << "expected at most " << maxBoxRows << " rows a copy, got "
                   << tile;
  }
  return success();
}

/// The warps of a warpgroup hold sixteen rows each: a sum over the rows would
/// have to combine them through shared memory.
static LogicalResult checkReduction(tile::ReduceOp op, Chip::Error error) {
  Type source = op.getSource().getType();
  if (!getElementTypeOrSelf(source).isF32()) {
    return error() << "no lowering for a reduction of " << source;
  }
  if (op.getDim() == 0 && !op.getPartial()) {
    return error() << "no lowering for a reduction along dimension 0 across "
                      "warps: expected 'partial'";
  }
  return success();
}

static LogicalResult checkComplete(tile::CompleteOp op, Chip::Error error) {
  Type source = op.getSource().getType();
  tile::LayoutAttr layout = layoutOf(source);
  if (!layout || layout.getDroppedDim() == 1) {
    return success();
  }
  return error() << "no lowering for shares along dimension 0, which lie in "
                    "several warps, got "
                 << source;
}

/// Vectors that threads store have one element per row; those that they load
/// may have one per column.
static LogicalResult checkStoredVector(tile::StoreRowOp op, Chip::Error error) {
  Type vector = op.getTile().getType();
  tile::LayoutAttr layout = layoutOf(vector);
  if (!layout || layout.getDroppedDim() == 1) {
    return success();
  }
  return error() << "no lowering for a vector without rows in memory, "
                 << vector;
}

LogicalResult Sm90::checkTileOp(Operation *op, Error error) const {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ReduceOp op) { return checkReduction(op, error); })
      .Case([&](tile::CompleteOp op) { return checkComplete(op, error); })
      .Case([&](tile::StoreRowOp op) { return checkStoredVector(op, error); })
      .Default(success());
}

/// Checks that a thread holds `count` elements of a tile or vector, or at least
/// that many.
static LogicalResult checkShare(Type share, Type element, int64_t count,
                                bool isLeast, Chip::Error error) {
  auto vector = dyn_cast<VectorType>(share);
  if (vector && vector.getRank() == 1 && vector.getElementType() == element &&
      (vector.getNumElements() == count ||
       (isLeast && vector.getNumElements() > count))) {
    return success();
  }
  return error() << "expected a thread to hold " << (isLeast ? "at least " : "")
                 << count << " elements " << element << ", got " << share;
}

/// Threads access pairs of columns of their tile; pairs of 16-bit elements are
/// in one register.
static LogicalResult checkMovedTile(Value tensor, Type share,
                                    Chip::Error error) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = type.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16()) {
    return error() << "expected elements f32, f16 or bf16, got " << element;
  }
  int64_t columns = type.getShape().back();
  if (columns % quadColumns != 0) {
    return error() << "expected a multiple of " << quadColumns
                   << " columns, got " << columns;
  }
  int64_t pairs = 2 * columns / quadColumns; // of both rows
  return isPacked(element)
             ? checkShare(share, IntegerType::get(element.getContext(), 32),
                          pairs, /*isLeast=*/true, error)
             : checkShare(share, element, 2 * pairs, /*isLeast=*/true, error);
}

/// A thread loads the elements of its rows, or pairs of columns.
static LogicalResult checkLoadedVector(tile::LoadRowOp op, Chip::Error error) {
  Type share = op.getTile().getType();
  Type element = getElementTypeOrSelf(op.getSource());
  bool ofColumns = op->hasAttr(sm90::ofColumnsAttr);
  if (failed(checkShare(share, element, threadRows, /*isLeast=*/ofColumns,
                        error))) {
    return failure();
  }
  if (cast<VectorType>(share).getNumElements() % 2 == 0) {
    return success();
  }
  return error() << "expected a thread to hold pairs of columns, got " << share;
}

/// A warpgroup puts tiles of 64 rows, of which a thread holds pairs of
/// elements.
static LogicalResult checkPut(ws::PutOp op, Chip::Error error) {
  auto hold = op->getParentOfType<ws::KernelOp>().lookupSymbol<ws::HoldOp>(
      op.getHold());
  auto tile = cast<RankedTensorType>(hold.getType());
  if (tile.getDimSize(0) != tileRows) {
    return error() << "expected a hold of " << tileRows << " rows, got "
                   << tile;
  }
  Type element = tile.getElementType();
  bool inPairs = isPacked(element);
  return checkShare(op.getValue().getType(),
                    inPairs ? IntegerType::get(op.getContext(), 32) : element,
                    tile.getDimSize(1) / (inPairs ? 4 : 2), /*isLeast=*/false,
                    error);
}

/// A thread reads its two rows, or pairs of columns.
static LogicalResult checkReadRow(ws::ReadRowOp op, Chip::Error error) {
  int64_t all = op.getSlot().getType().getTile().getDimSize(0);
  bool ofColumns = op->hasAttr(sm90::ofColumnsAttr);
  return checkShare(op.getTile().getType(), Float32Type::get(op.getContext()),
                    ofColumns ? all / 4 : threadRows, /*isLeast=*/false, error);
}

/// Of a transposed A, or the B that it is multiplied with, one is the pieces of
/// a hold. D's rows are one panel of A's columns. A share of B's columns begins
/// at a panel, or ends within it.
static LogicalResult checkMma(ws::MmaOp op, Chip::Error error) {
  auto a = dyn_cast<ws::SlotType>(op.getA().getType());
  Value pieces = operandOfAllPieces(op);
  if (op.getTransposeA() &&
      (!a || !pieces || SmemTile(a.getTile()).panelColumns() != tileRows ||
       (!op.getPiece() && a.getTile().getDimSize(1) != tileRows))) {
    return error() << "no lowering for a transposed operand A other than "
                   << tileRows << " columns of a hold, got "
                   << op.getA().getType();
  }
  if (pieces == op.getB() && (op.getTransposeB() || op.getColumns())) {
    return error() << "no lowering for an operand B in a hold with "
                   << (op.getColumns() ? "'columns'" : "'transpose_b'");
  }
  auto share = dyn_cast<VectorType>(op.getResult().getType());
  if (!op.getColumns() || !share) {
    return success();
  }
  int64_t columns = 2 * share.getNumElements();
  int64_t panel = SmemTile(op.getB().getType().getTile()).panelColumns();
  if (columns % panel == 0 || panel % columns == 0) {
    return success();
  }
  return error() << "no lowering for " << columns
                 << " columns of an operand B in panels of " << panel;
}

LogicalResult Sm90::checkInstruction(Operation *op, Error error) const {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::StoreRegOp op) {
        return checkMovedTile(op.getDest(), op.getTile().getType(), error);
      })
      .Case([&](tile::ReduceAddOp op) {
        return op.getColumn() ? success()
                              : checkMovedTile(op.getDest(),
                                               op.getTile().getType(), error);
      })
      .Case([&](tile::LoadOp op) {
        return checkMovedTile(op.getSource(), op.getTile().getType(), error);
      })
      .Case([&](tile::LoadRowOp op) { return checkLoadedVector(op, error); })
      .Case([&](tile::StoreRowOp op) {
        Type element = getElementTypeOrSelf(op.getDest());
        return checkShare(op.getTile().getType(), element, threadRows,
                          /*isLeast=*/false, error);
      })
      .Case([&](ws::PutOp op) { return checkPut(op, error); })
      .Case([&](ws::ReadRowOp op) { return checkReadRow(op, error); })
      .Case([&](ws::MmaOp op) { return checkMma(op, error); })
      .Default(success());
}
