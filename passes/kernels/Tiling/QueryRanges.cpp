// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "QueryRanges.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

tile::RangesAttr QueryRanges::ranges(MLIRContext *context) const {
  auto range = [&](tile::RangeKind kind) {
    return tile::RangeAttr::get(context, kind, std::nullopt);
  };
  SmallVector<tile::RangeAttr> list;
  if (!keys.maskRegion && hasRightRange()) {
    list.push_back(range(tile::RangeKind::Masked));
  }
  if (!keys.maskRegion) {
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
  return llvm::to_vector_of<Value>(op.getResults());
}

Value QueryRanges::clamp(TileBuilder &b, Value count) const {
  return b.max(b.min(keys.query.length, count), b.i32(0));
}

/// Query blocks of a block of keys, from the right: [mid, hi) need a mask for
/// their last queries, [left, mid) none, [lo, left) for their first queries.
/// Some query sees keys up to the last one that sees the last key, and every
/// query those between the ones that see the last key and those that see the
/// first. If the keys end in the block, all of it is masked.
SmallVector<Value> QueryRanges::boundsOf(TileBuilder &b, Value work) const {
  const BuiltInKeys &mask = keys.builtIn;
  Value size = keys.query.tileSize, zero = b.i32(0), one = b.i32(1);
  auto owned = tile::OwnedRowsOp::create(b, b.loc, work);
  Value first = owned.getFirst();
  Value past = b.add(first, owned.getRows()), last = b.sub(past, one);
  Value some = keys.query.length, every = some, lo = zero, left = zero;
  if (mask.seeing.last) {
    some = clamp(b, b.add(mask.lastQuery(b, last), one));
    every = clamp(b, b.add(mask.lastQuery(b, first), one));
  }
  Value hi = b.ceilDiv(some, size);
  if (mask.seeing.first) {
    lo = b.min(b.div(clamp(b, mask.firstQuery(b, first)), size), hi);
    left = b.ceilDiv(clamp(b, mask.firstQuery(b, last)), size);
  }
  Value isWhole =
      b.make<arith::CmpIOp>(arith::CmpIPredicate::sle, past, keys.key.length);
  Value mid = hasRightRange() ? b.max(b.div(every, size), lo) : hi;
  left = b.max(b.min(left, mid), lo);
  left = b.make<arith::SelectOp>(isWhole, left, mid);
  Values bounds = {hi};
  if (!keys.maskRegion && hasRightRange()) {
    bounds.push_back(b.min(mid, hi));
  }
  if (!keys.maskRegion) {
    bounds.push_back(left);
  }
  bounds.push_back(lo);
  for (Value &bound : bounds) {
    bound = b.mul(bound, repeats);
  }
  return bounds;
}
