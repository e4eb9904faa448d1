// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyRanges.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

tile::RangesAttr KeyRanges::ranges(MLIRContext *context) const {
  auto range = [&](tile::RangeKind kind, std::optional<int64_t> atMost = {}) {
    return tile::RangeAttr::get(context, kind, atMost);
  };
  SmallVector<tile::RangeAttr> list;
  // Without a bound on the right, only the block that the keys fill partially
  // is masked. With parts there is no such limit: few parts have that block.
  bool isEnd = !maskRegion && !seen.last && !parts;
  list.push_back(range(tile::RangeKind::Masked,
                       isEnd ? std::optional<int64_t>(1) : std::nullopt));
  if (!maskRegion) {
    list.push_back(range(tile::RangeKind::Full));
  }
  if (!maskRegion && seen.first) {
    list.push_back(range(tile::RangeKind::Masked));
  }
  return tile::RangesAttr::get(context, tile::Direction::Down, list);
}

Value KeyRanges::toQuery(TileBuilder &b, Value row) const {
  if (packed == 1) {
    return row;
  }
  Value shift = b.like(b.i32(llvm::Log2_64(packed)), row);
  return b.make<arith::ShRUIOp>(row, shift);
}

/// Returns the key on the diagonal of each query; positions are scalars or
/// tiles.
Value KeyRanges::toDiagonal(TileBuilder &b, Value queries) const {
  if (!bottomRight) {
    return queries;
  }
  Value offset = b.sub(key.length, query.length);
  return b.add(queries, b.like(offset, queries));
}

Value KeyRanges::wordOf(StringRef word, Value diagonal) const {
  if (word == kDiagonal) {
    return diagonal;
  }
  if (word == stringifyLaunchSize(LaunchSize::SeqlenQ)) {
    return query.length;
  }
  return word == stringifyLaunchSize(LaunchSize::SeqlenK) ? key.length
                                                          : bounds.lookup(word);
}

/// Writes an expression for the first or last key that is seen. The result is a
/// tile if it depends on the diagonal and the diagonal is a tile. Dividends are
/// not negative.
Value KeyRanges::write(TileBuilder &b, Attribute expression,
                       Value diagonal) const {
  if (auto number = dyn_cast<IntegerAttr>(expression)) {
    return b.i32(number.getInt());
  }
  if (auto word = dyn_cast<StringAttr>(expression)) {
    return wordOf(word, diagonal);
  }
  auto list = cast<ArrayAttr>(expression);
  Value x = write(b, list[1], diagonal), y = write(b, list[2], diagonal);
  bool isTile = isa<ShapedType>(x.getType());
  (isTile ? y : x) = isTile ? b.like(y, x) : b.like(x, y);
  switch (launchOperatorOf(list)->op) {
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
Value KeyRanges::lastKey(TileBuilder &b, Value queries) const {
  return write(b, seen.last, toDiagonal(b, queries));
}

/// Returns the first key that each query may see.
Value KeyRanges::firstKey(TileBuilder &b, Value queries) const {
  return write(b, seen.first, toDiagonal(b, queries));
}

SmallVector<Value> KeyRanges::writeBounds(TileBuilder &b, Value work) const {
  SmallVector<Type> types(ranges(b.getContext()).size() + 1, b.getI32Type());
  auto op = tile::BoundsOp::create(b, b.loc, types, work);
  b.fill(op.getBody().emplaceBlock(), work.getType(),
         [&](ValueRange args) { return boundsOf(b, args[0]); });
  return llvm::to_vector_of<Value>(op.getResults());
}

/// Key blocks of a block of queries, from the right: [mid, hi) need a mask for
/// their right ends, [left, mid) none, [lo, left) for their left ends; without
/// a first key left = lo = 0. Some row sees the keys up to the last key of the
/// last row, and every row those up to the last key of the first row; likewise
/// on the left. Counts are clamped to 0..length, so that lo <= left <= mid <=
/// hi.
SmallVector<Value> KeyRanges::boundsOfRows(TileBuilder &b, Value first,
                                           Value rows) const {
  Value zero = b.i32(0), some = key.length, last;
  auto clamp = [&](Value count) {
    return b.max(b.min(key.length, count), zero);
  };
  if (seen.last) {
    last = lastKey(b, first);
    some = clamp(b.add(last, rows));
  }
  Value hi = b.ceilDiv(some, key.tileSize);
  Value lo = seen.first ? b.div(clamp(firstKey(b, first)), key.tileSize) : zero;
  if (maskRegion) {
    return {hi, lo};
  }
  Value every = last ? clamp(b.add(last, b.i32(1))) : key.length;
  Value mid = b.div(every, key.tileSize);
  if (!seen.first) {
    return {hi, mid, lo};
  }
  Value lastRow = b.add(first, b.sub(rows, b.i32(1)));
  Value seenByAll = clamp(firstKey(b, lastRow));
  Value left = b.min(b.ceilDiv(seenByAll, key.tileSize), mid);
  return {hi, mid, left, lo};
}

/// Keeps the blocks of one part: the parts of an item have equal numbers of
/// blocks, from the left. All sub-tiles are cut at the same blocks.
void KeyRanges::keepPart(TileBuilder &b, Value work,
                         MutableArrayRef<Value> bounds) const {
  Values item(bounds);
  if (dependsOnRows()) {
    auto at = tile::WorkCoordsOp::create(b, b.loc, work);
    Value first = b.mul(at.getBlock(), query.tileSize);
    item = boundsOfRows(b, toQuery(b, first), toQuery(b, query.tileSize));
  }
  auto part = tile::PartOfOp::create(b, b.loc, work);
  Value hi = item.front(), lo = item.back();
  Value rounded = b.add(b.sub(hi, lo), b.sub(parts, b.i32(1)));
  Value each = b.make<arith::DivUIOp>(rounded, parts);
  Value begin = b.min(b.add(lo, b.mul(part.getPart(), each)), hi);
  Value end = b.min(b.add(begin, each), hi);
  for (Value &bound : bounds) {
    Value inside = b.max(b.min(bound, end), begin);
    bound = b.make<arith::SelectOp>(part.getIsPart(), inside, bound);
  }
}

SmallVector<Value> KeyRanges::boundsOf(TileBuilder &b, Value work) const {
  Value first, rows;
  if (dependsOnRows()) {
    auto owned = tile::OwnedRowsOp::create(b, b.loc, work);
    first = toQuery(b, owned.getFirst());
    rows = toQuery(b, owned.getRows());
  }
  Values bounds = boundsOfRows(b, first, rows);
  if (parts) {
    keepPart(b, work, bounds);
  }
  return bounds;
}

Value KeyRanges::writeAdmitted(TileBuilder &b, Value queries,
                               Value keys) const {
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.make<arith::CmpIOp>(predicate, x, y);
  };
  // One comparison per element: everything else depends only on the row.
  Value end = b.like(key.length, keys);
  if (seen.last) {
    end = b.min(end, b.add(lastKey(b, queries), b.like(b.i32(1), keys)));
  }
  if (!seen.first) {
    return compare(arith::CmpIPredicate::slt, keys, end);
  }
  Value first = firstKey(b, queries);
  Value count = b.max(b.sub(end, first), b.like(b.i32(0), keys));
  return compare(arith::CmpIPredicate::ult, b.sub(keys, first), count);
}
