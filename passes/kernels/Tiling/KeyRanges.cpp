// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyRanges.h"
#include "../ScoreLifter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

tile::RangesAttr KeyRanges::ranges(MLIRContext *context) const {
  auto range = [&](tile::RangeKind kind, std::optional<int64_t> atMost = {}) {
    return tile::RangeAttr::get(context, kind, atMost);
  };
  SmallVector<tile::RangeAttr> list;
  // If nothing bounds the keys on the right, only the last block is masked,
  // which the keys may fill partially. Items in parts have no such limit, since
  // few parts contain that block.
  bool isEnd = !maskRegion && !hasEnd() && !parts;
  list.push_back(range(tile::RangeKind::Masked,
                       isEnd ? std::optional<int64_t>(1) : std::nullopt));
  if (!maskRegion) {
    list.push_back(range(tile::RangeKind::Full));
  }
  if (!maskRegion && hasFirst()) {
    list.push_back(range(tile::RangeKind::Masked));
  }
  if (!maskRegion && rowKeys.hasPrefix) {
    list.push_back(range(tile::RangeKind::Full));
  }
  return tile::RangesAttr::get(context, tile::Direction::Down, list);
}

Value KeyRanges::toQuery(TileBuilder &b, Value row) const {
  if (rowsOfPosition == 1) {
    return row;
  }
  Value shift = b.like(b.i32(llvm::Log2_64(rowsOfPosition)), row);
  return b.make<arith::ShRUIOp>(row, shift);
}

RowEnds KeyRanges::liftRowKeys(TileBuilder &b, Queries queries) const {
  auto tile = dyn_cast<ShapedType>(queries.positions.getType());
  Values arguments{queries.batch, queries.head, queries.positions};
  llvm::append_range(arguments, rowKeys.captures);
  Values keys = ScoreLifter(b, tile ? tile.getShape() : ArrayRef<int64_t>())
                    .lift(*rowKeys.region, arguments);
  for (Value &key : keys) {
    key = rowKeys.mayBeNegative ? b.max(key, b.like(b.i32(0), key)) : key;
  }
  return {keys[0], keys[1], rowKeys.hasPrefix ? keys[2] : Value()};
}

SmallVector<Value> KeyRanges::writeBounds(TileBuilder &b, Value work) const {
  SmallVector<Type> types(ranges(b.getContext()).size() + 1, b.getI32Type());
  auto op = tile::BoundsOp::create(b, b.loc, types, work);
  b.fill(op.getBody().emplaceBlock(), work.getType(),
         [&](ValueRange args) { return boundsOf(b, args[0]); });
  return llvm::to_vector_of<Value>(op.getResults());
}

Value KeyRanges::clamp(TileBuilder &b, Value count, Value zero) const {
  return b.max(b.min(key.length, count), zero);
}

/// Key blocks of a block of queries, from the right: [mid, hi) need a mask for
/// their right ends, [left, mid) none, [lo, left) for their left ends; without
/// a first key left = lo = 0.
SmallVector<Value> KeyRanges::boundsOfRows(TileBuilder &b, Value work,
                                           Value first, Value rows) const {
  if (!rowKeys.region) {
    return boundsOfMask(b, first, rows);
  }
  auto at = tile::WorkCoordsOp::create(b, b.loc, work);
  Values bounds =
      boundsOfRowKeys(b, {first, at.getBatch(), at.getHead()}, rows);
  return rowKeys.hasPrefix
             ? countBlocks(b, {at.getBlock(), at.getBatch(), at.getHead()},
                           first, bounds)
             : bounds;
}

/// Some row sees the keys up to the last key of the last row, and every row
/// those up to the last key of the first row; likewise on the left. Counts are
/// clamped to 0..length, so that lo <= left <= mid <= hi.
SmallVector<Value> KeyRanges::boundsOfMask(TileBuilder &b, Value first,
                                           Value rows) const {
  Value zero = b.i32(0), some = key.length, last;
  if (builtIn.seen.last) {
    last = builtIn.lastKey(b, first);
    some = clamp(b, b.add(last, rows), zero);
  }
  Value hi = b.ceilDiv(some, key.tileSize);
  Value lo =
      builtIn.seen.first
          ? b.div(clamp(b, builtIn.firstKey(b, first), zero), key.tileSize)
          : zero;
  if (maskRegion) {
    return {hi, lo};
  }
  Value every = last ? clamp(b, b.add(last, b.i32(1)), zero) : key.length;
  Value mid = b.div(every, key.tileSize);
  if (!builtIn.seen.first) {
    return {hi, mid, lo};
  }
  Value lastRow = b.add(first, b.sub(rows, b.i32(1)));
  Value seenByAll = clamp(b, builtIn.firstKey(b, lastRow), zero);
  Value left = b.min(b.ceilDiv(seenByAll, key.tileSize), mid);
  return {hi, mid, left, lo};
}

/// The region of a reduction to the least or the most of two numbers.
template <typename Op>
static void fillReduction(TileBuilder &b, Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = region.front();
  b.setInsertionPointToEnd(&block);
  Value result = b.make<Op>(block.getArgument(0), block.getArgument(1));
  scf::ReduceReturnOp::create(b, b.loc, result);
}

/// Reads the ends of all rows. Rows after the last query have its ends.
EndsOfRows KeyRanges::reduceRows(TileBuilder &b, Queries first,
                                 Value rows) const {
  Value lastQuery = b.sub(query.length, b.i32(1));
  Value begin = b.make<arith::IndexCastOp>(b.getIndexType(), first.positions),
        end = b.make<arith::IndexCastOp>(b.getIndexType(),
                                         b.add(first.positions, rows)),
        step = b.make<arith::ConstantIndexOp>(1);
  Value least = b.i32(INT32_MAX), most = b.i32(INT32_MIN);
  Values inits;
  for (int side = hasFirst() + hasEnd(); side > 0; --side) {
    inits.append({least, most});
  }
  auto body = [&](OpBuilder &, Location, ValueRange row, ValueRange) {
    Queries one = first;
    Value number = b.make<arith::IndexCastOp>(b.getI32Type(), row[0]);
    one.positions = b.min(number, lastQuery);
    RowEnds ends = liftRowKeys(b, one);
    Values reduced;
    if (hasFirst()) {
      reduced.append(2, ends.first);
    }
    if (hasEnd()) {
      reduced.append(2, ends.end);
    }
    auto reduce = scf::ReduceOp::create(b, b.loc, reduced);
    for (auto [number, region] : llvm::enumerate(reduce.getReductions())) {
      number % 2 == 0 ? fillReduction<arith::MinSIOp>(b, region)
                      : fillReduction<arith::MaxSIOp>(b, region);
    }
  };
  Values found(scf::ParallelOp::create(b, b.loc, begin, end, step, inits, body)
                   .getResults());
  EndsOfRows ends;
  if (hasEnd()) {
    ends.mostEnd = found.pop_back_val();
    ends.leastEnd = found.pop_back_val();
  } else {
    ends.mostEnd = ends.leastEnd = key.length;
  }
  if (hasFirst()) {
    ends.mostFirst = found.pop_back_val();
    ends.leastFirst = found.pop_back_val();
  }
  return ends;
}

/// If no end falls from row to row, the first and the last row have the
/// smallest and the largest.
EndsOfRows KeyRanges::endsOfRows(TileBuilder &b, Queries first,
                                 Value rows) const {
  if (!rowKeys.isOrdered) {
    return reduceRows(b, first, rows);
  }
  Queries last = first;
  last.positions = b.add(first.positions, b.sub(rows, b.i32(1)));
  RowEnds ofFirst = liftRowKeys(b, first), ofLast = liftRowKeys(b, last);
  return {ofFirst.first, ofLast.first, ofFirst.end, ofLast.end};
}

/// Rows may be empty, or end before others begin, so every block is masked that
/// some row does not see completely.
SmallVector<Value> KeyRanges::boundsOfRowKeys(TileBuilder &b, Queries first,
                                              Value rows) const {
  EndsOfRows ends = endsOfRows(b, first, rows);
  Value zero = b.i32(0), lo = zero;
  Value hi = b.ceilDiv(clamp(b, ends.mostEnd, zero), key.tileSize);
  if (hasFirst()) {
    lo = b.min(b.div(clamp(b, ends.leastFirst, zero), key.tileSize), hi);
  }
  if (maskRegion) {
    return {hi, lo};
  }
  Value mid = b.max(b.div(clamp(b, ends.leastEnd, zero), key.tileSize), lo);
  if (!hasFirst()) {
    return {hi, mid, lo};
  }
  Value seenByAll = clamp(b, ends.mostFirst, zero);
  Value left = b.min(b.ceilDiv(seenByAll, key.tileSize), mid);
  return {hi, mid, left, lo};
}

/// The CTAs of a cluster stream the same blocks.
SeenBlocks KeyRanges::blocksOfItem(TileBuilder &b, const RowBlock &at) const {
  Value block = at.block, size = query.tileSize;
  if (cluster > 1) {
    block = b.div(block, b.i32(cluster));
    size = b.mul(size, b.i32(cluster));
  }
  Value start = b.mul(block, size), zero = b.i32(0);
  RowEnds ofFirst = liftRowKeys(b, {start, at.batch, at.head});
  Value lastRow = b.add(start, b.sub(size, b.i32(1)));
  RowEnds ofLast = liftRowKeys(b, {lastRow, at.batch, at.head});
  Value prefix = b.ceilDiv(clamp(b, ofLast.prefix, zero), key.tileSize);
  Value begin = b.div(clamp(b, ofFirst.first, zero), key.tileSize);
  return {prefix, b.max(begin, prefix)};
}

/// The blocks of the prefix come first in the count, the others follow.
Value KeyRanges::toBlock(TileBuilder &b, Value iteration,
                         const RowBlock &at) const {
  if (!rowKeys.hasPrefix) {
    return iteration;
  }
  SeenBlocks seenBlocks = blocksOfItem(b, at);
  Value gap = b.sub(seenBlocks.begin, seenBlocks.prefix);
  return tile::SkipOp::create(b, b.loc, iteration, seenBlocks.prefix, gap);
}

/// Counts bounds like toBlock(). The last ranges are the blocks of the prefix:
/// every row sees the blocks before the end of the first row's prefix.
SmallVector<Value> KeyRanges::countBlocks(TileBuilder &b, const RowBlock &at,
                                          Value firstRow, Values bounds) const {
  SeenBlocks seenBlocks = blocksOfItem(b, at);
  Value gap = b.sub(seenBlocks.begin, seenBlocks.prefix), zero = b.i32(0);
  bounds.pop_back();
  for (Value &bound : bounds) {
    bound = b.sub(b.max(bound, seenBlocks.begin), gap);
  }
  if (!maskRegion) {
    RowEnds ends = liftRowKeys(b, {firstRow, at.batch, at.head});
    bounds.push_back(b.div(clamp(b, ends.prefix, zero), key.tileSize));
  }
  bounds.push_back(zero);
  return bounds;
}

void attn::keepPartOf(TileBuilder &b, Value work, Value parts,
                      std::pair<Value, Value> item,
                      MutableArrayRef<Value> bounds) {
  auto part = tile::PartOfOp::create(b, b.loc, work);
  auto [lo, hi] = item;
  Value rounded = b.add(b.sub(hi, lo), b.sub(parts, b.i32(1)));
  Value each = b.make<arith::DivUIOp>(rounded, parts);
  Value begin = b.min(b.add(lo, b.mul(part.getPart(), each)), hi);
  Value end = b.min(b.add(begin, each), hi);
  for (Value &bound : bounds) {
    Value inside = b.max(b.min(bound, end), begin);
    bound = b.make<arith::SelectOp>(part.getIsPart(), inside, bound);
  }
}

/// Keeps the blocks of one part. All sub-tiles are cut at the same blocks.
void KeyRanges::keepPart(TileBuilder &b, Value work,
                         MutableArrayRef<Value> bounds) const {
  Values item(bounds);
  if (dependsOnRows()) {
    auto at = tile::WorkCoordsOp::create(b, b.loc, work);
    Value first = b.mul(at.getBlock(), query.tileSize);
    item = boundsOfRows(b, work, toQuery(b, first), toQuery(b, query.tileSize));
  }
  keepPartOf(b, work, parts, {item.back(), item.front()}, bounds);
}

SmallVector<Value> KeyRanges::boundsOf(TileBuilder &b, Value work) const {
  Value first, rows;
  if (dependsOnRows()) {
    auto owned = tile::OwnedRowsOp::create(b, b.loc, work);
    first = toQuery(b, owned.getFirst());
    rows = toQuery(b, owned.getRows());
  }
  Values bounds = boundsOfRows(b, work, first, rows);
  if (parts) {
    keepPart(b, work, bounds);
  }
  return bounds;
}

Value KeyRanges::writeAdmitted(TileBuilder &b, Queries queries,
                               Value keys) const {
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.make<arith::CmpIOp>(predicate, x, y);
  };
  // One comparison per element and interval: everything else depends only on
  // the row.
  Value length = b.like(key.length, keys), end = length;
  RowEnds ends;
  if (rowKeys.region) {
    ends = liftRowKeys(b, queries);
    end = b.min(end, ends.end);
  } else if (builtIn.seen.last) {
    end = b.min(end, b.add(builtIn.lastKey(b, queries.positions),
                           b.like(b.i32(1), keys)));
  }
  if (!hasFirst()) {
    return compare(arith::CmpIPredicate::slt, keys, end);
  }
  Value first =
      ends.first ? ends.first : builtIn.firstKey(b, queries.positions);
  Value count = b.max(b.sub(end, first), b.like(b.i32(0), keys));
  Value inside = compare(arith::CmpIPredicate::ult, b.sub(keys, first), count);
  if (!ends.prefix) {
    return inside;
  }
  Value inPrefix =
      compare(arith::CmpIPredicate::slt, keys, b.min(length, ends.prefix));
  return b.make<arith::OrIOp>(inside, inPrefix);
}
