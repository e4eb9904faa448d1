// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "QueryRanges.h"
#include "../ScoreLifter.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

tile::RangesAttr QueryRanges::ranges(MLIRContext *context) const {
  auto range = [&](tile::RangeKind kind) {
    return tile::RangeAttr::get(context, kind, std::nullopt);
  };
  SmallVector<tile::RangeAttr> list;
  if (!areAllMasked() && hasRightRange()) {
    list.push_back(range(tile::RangeKind::Masked));
  }
  if (!areAllMasked()) {
    list.push_back(range(tile::RangeKind::Full));
  }
  list.push_back(range(tile::RangeKind::Masked));
  return tile::RangesAttr::get(context, tile::Direction::Down, list);
}

SmallVector<Value> QueryRanges::writeBounds(TileBuilder &b, Value work) const {
  SmallVector<Type> types(ranges(b.getContext()).size() + 1, b.getI32Type());
  auto op = tile::BoundsOp::create(b, b.loc, types, work);
  b.fill(op.getBody().emplaceBlock(), work.getType(),
         [&](ValueRange args) { return boundsOf(b, args[0]); });
  if (keys.rowKeys.region || keys.parts) {
    // Each copy of `row_keys` computes all ends of a row, and of the bounds of
    // an item in parts only the outer ones are used.
    eraseDead(op.getBody().front());
  }
  return llvm::to_vector_of<Value>(op.getResults());
}

Value QueryRanges::clamp(TileBuilder &b, Value count) const {
  return b.max(b.min(keys.query.length, count), b.i32(0));
}

/// Some key is seen by the queries from the first one that sees the first key
/// to the last one that sees the last key. Every key is seen by those from the
/// first one that sees the last key to the last one that sees the first key.
QueryRanges::SeeingBlocks
QueryRanges::blocksOfMask(TileBuilder &b, const OwnedKeys &owned) const {
  const BuiltInKeys &mask = keys.builtIn;
  Value size = keys.query.tileSize, zero = b.i32(0), one = b.i32(1);
  Value some = keys.query.length, every = some;
  SeeingBlocks blocks{{}, zero, zero, {}};
  if (mask.seeing.last) {
    some = clamp(b, b.add(mask.lastQuery(b, owned.last), one));
    every = clamp(b, b.add(mask.lastQuery(b, owned.first), one));
  }
  blocks.hi = b.ceilDiv(some, size);
  if (mask.seeing.first) {
    blocks.lo = b.min(b.div(clamp(b, mask.firstQuery(b, owned.first)), size),
                      blocks.hi);
    blocks.left = b.ceilDiv(clamp(b, mask.firstQuery(b, owned.last)), size);
  }
  blocks.mid = hasRightRange() ? b.div(every, size) : blocks.hi;
  return blocks;
}

bool QueryRanges::hasRowsOfGroup() const {
  constexpr unsigned headArgument = 1;
  return keys.rowKeys.region &&
         keys.rowKeys.region->getArgument(headArgument).use_empty();
}

/// Returns the number of blocks, from the first one on, whose first or last row
/// has a key of at most `most`. A binary search finds it, because keys do not
/// fall from row to row.
Value QueryRanges::countBlocks(TileBuilder &b, const OwnedKeys &owned,
                               RowKey which, bool ofLastRow, Value most) const {
  const Axis &query = keys.query;
  Value blocks = b.ceilDiv(query.length, query.tileSize), zero = b.i32(0);
  auto isAtMost = [&](Value count) {
    Value past = b.mul(count, query.tileSize);
    Value row = b.sub(past, ofLastRow ? b.i32(1) : query.tileSize);
    RowEnds ends = keys.liftRowKeys(b, {row, owned.batch, owned.head});
    Value key = which == RowKey::First ? ends.first
                : which == RowKey::End ? ends.end
                                       : ends.prefix;
    return b.make<arith::CmpIOp>(arith::CmpIPredicate::sle, key, most);
  };
  if (bitEnumContainsAll(keys.rowKeys.sides, RowKeys::Alike)) {
    return b.make<arith::SelectOp>(isAtMost(b.i32(1)), blocks, zero);
  }
  Value count = zero;
  unsigned steps = llvm::Log2_64_Ceil(kItemLimit / query.tile + 2);
  while (steps > 0) {
    Value more = b.min(b.add(count, b.i32(int64_t(1) << --steps)), blocks);
    count = b.make<arith::SelectOp>(isAtMost(more), more, count);
  }
  return count;
}

/// A query sees one of the owned keys only if its interval ends after the first
/// of them and does not begin after the last, or if its prefix ends after the
/// first.
QueryRanges::SeeingBlocks
QueryRanges::blocksOfRowKeys(TileBuilder &b, const OwnedKeys &owned) const {
  const RowKeysRegion &rows = keys.rowKeys;
  Value zero = b.i32(0);
  Value all = b.ceilDiv(keys.query.length, keys.query.tileSize);
  SeeingBlocks blocks{all, zero, zero, all};
  auto count = [&](RowKey which, bool ofLastRow, Value most) {
    return countBlocks(b, owned, which, ofLastRow, most);
  };
  if (!hasRowsOfGroup()) {
    return blocks;
  }
  if (rows.hasEnd() && isKeyOrdered(*rows.region, 1)) {
    blocks.lo = count(RowKey::End, /*ofLastRow=*/true, owned.first);
    blocks.left = count(RowKey::End, /*ofLastRow=*/false, owned.last);
  }
  if (rows.hasFirst() && isKeyOrdered(*rows.region, 0)) {
    blocks.hi = count(RowKey::First, /*ofLastRow=*/false, owned.last);
    blocks.mid = count(RowKey::First, /*ofLastRow=*/true, owned.first);
  }
  if (rows.hasPrefix) {
    Value unseen = count(RowKey::Prefix, /*ofLastRow=*/true, owned.first);
    Value isSeen =
        b.make<arith::CmpIOp>(arith::CmpIPredicate::slt, unseen, all);
    blocks.lo = b.min(blocks.lo, unseen);
    blocks.hi = b.make<arith::SelectOp>(isSeen, all, blocks.hi);
  }
  blocks.lo = b.min(blocks.lo, blocks.hi);
  if (masksEnd) {
    blocks.mid =
        b.min(blocks.mid, b.div(keys.query.length, keys.query.tileSize));
  }
  return blocks;
}

int64_t QueryRanges::countGroups() const {
  int64_t tile = keys.key.tile;
  return kSeenKeys % tile == 0   ? 1
         : tile % kSeenKeys == 0 ? tile / kSeenKeys
                                 : tile / kSeenKeys + 2;
}

Value QueryRanges::mostOfSeeing(TileBuilder &b, const OwnedKeys &owned,
                                int64_t row) const {
  Value first = b.div(owned.first, b.i32(kSeenKeys)), most;
  for (int64_t group : llvm::seq(countGroups())) {
    for (int64_t share : llvm::seq(kSeeingShares)) {
      Value number = b.make<tile::GatherOp>(
          b.getF32Type(), seeing,
          Values{owned.batch, b.i32(row + share), b.add(first, b.i32(group))});
      most = most ? b.make<arith::MaxNumFOp>(most, number) : number;
    }
  }
  return most;
}

Value QueryRanges::positionOf(TileBuilder &b, Value block) const {
  Value rows = b.i32(kSeeingRows);
  Value all = b.ceilDiv(keys.query.length, rows);
  Value number = b.make<arith::FPToSIOp>(b.getI32Type(), block);
  return b.mul(b.max(b.min(number, all), b.i32(0)), rows);
}

void QueryRanges::intersectSeeing(TileBuilder &b, const OwnedKeys &owned,
                                  SeeingBlocks &blocks) const {
  Value size = keys.query.tileSize;
  Value first = positionOf(b, b.make<arith::NegFOp>(mostOfSeeing(b, owned, 0)));
  Value past = positionOf(b, mostOfSeeing(b, owned, kSeeingShares));
  blocks.hi = b.min(blocks.hi, b.ceilDiv(past, size));
  blocks.lo = b.min(b.max(blocks.lo, b.div(first, size)), blocks.hi);
}

/// A run that another share goes on with ends at the share.
void QueryRanges::intersectRun(TileBuilder &b, const OwnedKeys &owned,
                               SeeingBlocks &blocks) const {
  Value size = keys.query.tileSize, zero = b.i32(0);
  if (countGroups() > 1) {
    blocks.mid = zero;
    return;
  }
  Value group = b.div(owned.first, b.i32(kSeenKeys)), first, past, most;
  for (int64_t share : llvm::seq(kSeeingShares)) {
    auto number = [&](int64_t row) -> Value {
      return b.make<tile::GatherOp>(
          b.getF32Type(), seeing,
          Values{owned.batch, b.i32(row * kSeeingShares + share), group});
    };
    Value low = number(2), high = number(3);
    Value length = b.make<arith::SubFOp>(high, low);
    if (!most) {
      std::tie(first, past, most) = std::tie(low, high, length);
      continue;
    }
    Value isLonger =
        b.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, length, most);
    first = b.make<arith::SelectOp>(isLonger, low, first);
    past = b.make<arith::SelectOp>(isLonger, high, past);
    most = b.make<arith::SelectOp>(isLonger, length, most);
  }
  Value left = b.ceilDiv(positionOf(b, first), size);
  Value mid = b.div(positionOf(b, past), size);
  blocks.left = b.max(blocks.left, left);
  blocks.mid = b.min(b.min(blocks.mid, mid), blocks.hi);
}

/// Query blocks of a block of keys, from the right: [mid, hi) need a mask for
/// their last queries, [left, mid) none, [lo, left) for their first queries.
/// If the keys end in the block, all of it is masked.
SmallVector<Value> QueryRanges::boundsOfKeys(TileBuilder &b, Value work,
                                             Value first, Value rows) const {
  OwnedKeys owned{first, {}, {}, {}};
  Value past = b.add(owned.first, rows);
  owned.last = b.sub(past, b.i32(1));
  SeeingBlocks blocks;
  bool usesSeeing = seeing && (areAllMasked() || knowsRegion);
  if (keys.rowKeys.region || usesSeeing) {
    auto at = tile::WorkCoordsOp::create(b, b.loc, work);
    owned.batch = at.getBatch();
    owned.head = at.getHead();
  }
  blocks =
      keys.rowKeys.region ? blocksOfRowKeys(b, owned) : blocksOfMask(b, owned);
  if (usesSeeing) {
    intersectSeeing(b, owned, blocks);
  }
  if (knowsRegion) {
    intersectRun(b, owned, blocks);
  }
  auto [hi, lo, left, mid] = blocks;
  Value isWhole =
      b.make<arith::CmpIOp>(arith::CmpIPredicate::sle, past, keys.key.length);
  mid = hasRightRange() ? b.max(mid, lo) : hi;
  left = b.max(b.min(left, mid), lo);
  left = b.make<arith::SelectOp>(isWhole, left, mid);
  Values bounds = {hi};
  if (!areAllMasked() && hasRightRange()) {
    bounds.push_back(b.min(mid, hi));
  }
  if (!areAllMasked()) {
    bounds.push_back(left);
  }
  bounds.push_back(lo);
  for (Value &bound : bounds) {
    bound = b.mul(bound, repeats);
  }
  return bounds;
}

/// All sub-tiles are cut at the same blocks.
SmallVector<Value> QueryRanges::boundsOf(TileBuilder &b, Value work) const {
  auto owned = tile::OwnedRowsOp::create(b, b.loc, work);
  Values bounds = boundsOfKeys(b, work, owned.getFirst(), owned.getRows());
  if (keys.parts) {
    auto at = tile::WorkCoordsOp::create(b, b.loc, work);
    Value size = keys.key.tileSize;
    Values item = boundsOfKeys(b, work, b.mul(at.getBlock(), size), size);
    keepPartOf(b, work, keys.parts, {item.back(), item.front()}, bounds);
  }
  return bounds;
}

/// The ranges of the block before begin no later, so that their end decides.
/// Without one, the first block of keys adds first: it waits for turn 0, with
/// which all begin.
QueryRanges::Turn QueryRanges::turnOfMask(TileBuilder &b, const KeyBlock &at,
                                          Value row) const {
  using arith::CmpIPredicate;
  const BuiltInKeys &mask = keys.builtIn;
  if (!mask.seeing.last) {
    return {at.block, b.make<arith::ConstantOp>(b.getBoolAttr(true))};
  }
  Value follows = b.make<arith::CmpIOp>(CmpIPredicate::sgt, at.first, b.i32(0));
  Value last = mask.lastQuery(b, b.sub(at.first, b.i32(1)));
  Value some = clamp(b, b.add(last, b.i32(1)));
  Value sees = b.make<arith::CmpIOp>(CmpIPredicate::slt, row, some);
  return {at.block, b.make<arith::AndIOp>(follows, sees)};
}

/// As under a built-in mask, the block before visits these queries if its range
/// ends after them. Blocks of keys with a part of a prefix end after all
/// queries, so that there may be a gap after the last one of these.
QueryRanges::Turn QueryRanges::turnOfRowKeys(TileBuilder &b, const KeyBlock &at,
                                             Value row) const {
  using arith::CmpIPredicate;
  const RowKeysRegion &rows = keys.rowKeys;
  bool hasEnd =
      hasRowsOfGroup() && rows.hasFirst() && isKeyOrdered(*rows.region, 0);
  if (!hasEnd) {
    return {at.block, b.make<arith::ConstantOp>(b.getBoolAttr(true))};
  }
  Value follows = b.make<arith::CmpIOp>(CmpIPredicate::sgt, at.first, b.i32(0));
  Value first = keys.liftRowKeys(b, {row, at.batch, at.head}).first;
  Value sees = b.make<arith::CmpIOp>(CmpIPredicate::slt, first, at.first);
  if (!rows.hasPrefix) {
    return {at.block, b.make<arith::AndIOp>(follows, sees)};
  }
  const Axis &query = keys.query;
  Value past = b.mul(b.ceilDiv(query.length, query.tileSize), query.tileSize);
  Value lastRow = b.sub(past, b.i32(1));
  Value prefix = keys.liftRowKeys(b, {lastRow, at.batch, at.head}).prefix;
  Value blocks = b.ceilDiv(prefix, keys.key.tileSize);
  Value inPrefix = b.make<arith::CmpIOp>(CmpIPredicate::sle, at.block, blocks);
  Value isBefore = b.make<arith::OrIOp>(sees, inPrefix);
  Value number = b.make<arith::SelectOp>(isBefore, at.block, blocks);
  Value some = b.make<arith::CmpIOp>(CmpIPredicate::sgt, number, b.i32(0));
  return {number, b.make<arith::AndIOp>(follows, some)};
}

QueryRanges::Turn QueryRanges::turnOf(TileBuilder &b, const KeyBlock &at,
                                      Value row) const {
  return keys.rowKeys.region ? turnOfRowKeys(b, at, row)
                             : turnOfMask(b, at, row);
}
