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
                             const WorkExtents &extents, bool manyItems)
    : order(order), extents(extents), manyItems(manyItems) {
  auto divisor = [&](Value value) {
    return manyItems ? Divisor::prepare(builder, loc, value) : Divisor(value);
  };
  heads = divisor(extents.heads);
  if (order == WorkOrder::Linear && !extents.section) {
    blocks = divisor(extents.blocks);
    return;
  }
  planes = mul(builder, loc, extents.heads, extents.batches);
  wide = divisor(extents.section ? extents.section : planes);
  if (extents.section) {
    items = divisor(mul(builder, loc, extents.section, extents.blocks));
  }
  if (extents.section && manyItems) {
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

WorkCoords WorkNumbering::coordsOf(OpBuilder &builder, Location loc,
                                   Value item) const {
  Value block, plane;
  if (order == WorkOrder::Linear && !extents.section) {
    // The row blocks of one plane after the other.
    std::tie(plane, block) = blocks.divide(builder, loc, item);
  } else {
    // Section by section; in each the last row blocks of all planes first, or,
    // in linear order, the first ones.
    Divisor width = wide;
    Value firstPlane;
    if (extents.section) {
      auto [number, inside] = items.divide(builder, loc, item);
      item = inside;
      firstPlane = mul(builder, loc, number, extents.section);
      width = widthFrom(builder, loc, firstPlane);
    }
    auto [down, in] = width.divide(builder, loc, item);
    block = down;
    if (order != WorkOrder::Linear) {
      Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
      block = sub(builder, loc, sub(builder, loc, extents.blocks, one), down);
    }
    plane =
        firstPlane ? arith::AddIOp::create(builder, loc, firstPlane, in) : in;
  }
  auto [batch, head] = heads.divide(builder, loc, plane);
  return {block, head, batch};
}
