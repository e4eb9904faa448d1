// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkOrder.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static Value mul(OpBuilder &builder, Location loc, Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}
static Value sub(OpBuilder &builder, Location loc, Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}

Value WorkExtents::count(OpBuilder &builder, Location loc) const {
  return mul(builder, loc, blocks, mul(builder, loc, heads, batches));
}

WorkNumbering::WorkNumbering(OpBuilder &builder, Location loc, WorkOrder order,
                             bool startsAtFirstBlock,
                             const WorkExtents &extents, bool manyItems)
    : order(order), startsAtFirstBlock(startsAtFirstBlock), extents(extents),
      manyItems(manyItems) {
  auto divisor = [&](Value value) {
    return manyItems ? Divisor::prepare(builder, loc, value) : Divisor(value);
  };
  heads = divisor(extents.heads);
  if (isLinear() || order == WorkOrder::ShortestLast) {
    blocks = divisor(extents.blocks);
  }
  if (isLinear()) {
    return;
  }
  planes = mul(builder, loc, extents.heads, extents.batches);
  Value width = extents.section ? extents.section : planes;
  if (order == WorkOrder::ShortestLast) {
    width = arith::MinUIOp::create(builder, loc, width, planes);
    firstLastPlane = sub(builder, loc, planes, width);
    firstLastItem = mul(builder, loc, firstLastPlane, extents.blocks);
  }
  wide = divisor(width);
  if (order == WorkOrder::ShortestLast || !extents.section) {
    return;
  }
  items = divisor(mul(builder, loc, extents.section, extents.blocks));
  if (manyItems) {
    // 0 if no section is narrower; it is then never a divisor.
    narrow = divisor(wide.divide(builder, loc, planes).second);
  }
}

/// Returns the number of planes of the section that begins at `firstPlane`.
Divisor WorkNumbering::widthFrom(OpBuilder &builder, Location loc,
                                 Value firstPlane) const {
  Value left = sub(builder, loc, planes, firstPlane);
  if (!manyItems) {
    return Divisor(arith::MinUIOp::create(builder, loc, extents.section, left));
  }
  Value isWide = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       left, extents.section);
  return Divisor::select(builder, loc, isWide, wide, narrow);
}

/// Returns the row block that comes after so many others of its plane.
Value WorkNumbering::blockAfter(OpBuilder &builder, Location loc,
                                Value others) const {
  if (startsAtFirstBlock) {
    return others;
  }
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value last = sub(builder, loc, extents.blocks, one);
  return sub(builder, loc, last, others);
}

/// Section by section; in each the same row block of all planes.
WorkNumbering::Place WorkNumbering::placeInSections(OpBuilder &builder,
                                                    Location loc,
                                                    Value item) const {
  if (!extents.section) {
    auto [others, plane] = wide.divide(builder, loc, item);
    return {plane, blockAfter(builder, loc, others)};
  }
  auto [number, inside] = items.divide(builder, loc, item);
  Value firstPlane = mul(builder, loc, number, extents.section);
  Divisor width = widthFrom(builder, loc, firstPlane);
  auto [others, in] = width.divide(builder, loc, inside);
  Value block = blockAfter(builder, loc, others);
  return {arith::AddIOp::create(builder, loc, firstPlane, in), block};
}

/// The row blocks of one plane after the other; of those of the last section
/// the same row block of all planes.
WorkNumbering::Place WorkNumbering::placeWithLastSection(OpBuilder &builder,
                                                         Location loc,
                                                         Value item) const {
  auto [plane, others] = blocks.divide(builder, loc, item);
  auto [lastOthers, in] =
      wide.divide(builder, loc, sub(builder, loc, item, firstLastItem));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       item, firstLastItem);
  auto select = [&](Value last, Value other) {
    return arith::SelectOp::create(builder, loc, isLast, last, other);
  };
  Value lastPlane = arith::AddIOp::create(builder, loc, firstLastPlane, in);
  return {select(lastPlane, plane),
          blockAfter(builder, loc, select(lastOthers, others))};
}

WorkNumbering::Place WorkNumbering::placeOf(OpBuilder &builder, Location loc,
                                            Value item) const {
  if (isLinear()) {
    auto [plane, block] = blocks.divide(builder, loc, item);
    return {plane, block};
  }
  return order == WorkOrder::ShortestLast
             ? placeWithLastSection(builder, loc, item)
             : placeInSections(builder, loc, item);
}

WorkCoords WorkNumbering::coordsOf(OpBuilder &builder, Location loc,
                                   Value item) const {
  auto [plane, block] = placeOf(builder, loc, item);
  auto [batch, head] = heads.divide(builder, loc, plane);
  return {block, head, batch};
}
