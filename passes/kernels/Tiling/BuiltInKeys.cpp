// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BuiltInKeys.h"
#include "attn/dialect/Launch.h"

using namespace mlir;
using namespace attn;

/// Returns the key on the diagonal of each query; positions are scalars or
/// tiles.
Value BuiltInKeys::toDiagonal(TileBuilder &b, Value queries) const {
  if (!bottomRight) {
    return queries;
  }
  Value offset = b.sub(seqlenK, seqlenQ);
  return b.add(queries, b.like(offset, queries));
}

/// Returns the query of each diagonal.
Value BuiltInKeys::fromDiagonal(TileBuilder &b, Value diagonals) const {
  if (!bottomRight) {
    return diagonals;
  }
  Value offset = b.sub(seqlenK, seqlenQ);
  return b.sub(diagonals, b.like(offset, diagonals));
}

Value BuiltInKeys::wordOf(StringRef word, Value position) const {
  if (word == kDiagonal || word == kKey) {
    return position;
  }
  if (word == stringifyLaunchSize(LaunchSize::SeqlenQ)) {
    return seqlenQ;
  }
  return word == stringifyLaunchSize(LaunchSize::SeqlenK) ? seqlenK
                                                          : bounds.lookup(word);
}

/// Writes an expression of a diagonal or a key. The result is a tile if it
/// depends on that position and the position is a tile. Dividends are not
/// negative.
Value BuiltInKeys::write(TileBuilder &b, Attribute expression,
                         Value position) const {
  if (auto number = dyn_cast<IntegerAttr>(expression)) {
    return b.i32(number.getInt());
  }
  if (auto word = dyn_cast<StringAttr>(expression)) {
    return wordOf(word, position);
  }
  auto apply = cast<launch::ApplyAttr>(expression);
  Value x = write(b, apply.getOperands()[0], position);
  Value y = write(b, apply.getOperands()[1], position);
  bool isTile = isa<ShapedType>(x.getType());
  (isTile ? y : x) = isTile ? b.like(y, x) : b.like(x, y);
  switch (apply.getOp()) {
  case LaunchOp::Add:
    return b.add(x, y);
  case LaunchOp::Sub:
    return b.sub(x, y);
  case LaunchOp::Mul:
    return b.mul(x, y);
  case LaunchOp::Div:
    return b.div(x, y);
  case LaunchOp::Min:
    return b.min(x, y);
  case LaunchOp::Max:
    return b.max(x, y);
  default:
    llvm_unreachable("Masks.td uses no other operator");
  }
}

/// Returns the last key that each query may see.
Value BuiltInKeys::lastKey(TileBuilder &b, Value queries) const {
  return write(b, seen.last, toDiagonal(b, queries));
}

/// Returns the first key that each query may see.
Value BuiltInKeys::firstKey(TileBuilder &b, Value queries) const {
  return write(b, seen.first, toDiagonal(b, queries));
}

Value BuiltInKeys::firstQuery(TileBuilder &b, Value keys) const {
  return fromDiagonal(b, write(b, seeing.first, keys));
}

Value BuiltInKeys::lastQuery(TileBuilder &b, Value keys) const {
  return fromDiagonal(b, write(b, seeing.last, keys));
}
