// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkOrder.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Value WorkExtents::count(OpBuilder &builder, Location loc) const {
  Value planes = arith::MulIOp::create(builder, loc, heads, batches);
  return arith::MulIOp::create(builder, loc, blocks, planes);
}

namespace {

/// A row block of a plane.
struct BlockOfPlane {
  Value block, plane;
};

class OrderWriter {
public:
  OrderWriter(OpBuilder &builder, Location loc, const WorkExtents &extents)
      : builder(builder), loc(loc), extents(extents) {}

  /// Row blocks of one plane after the other.
  BlockOfPlane linear(Value item) {
    return {rem(item, extents.blocks), div(item, extents.blocks)};
  }

  /// Section by section; in each the last row blocks of all planes first.
  BlockOfPlane longestFirst(Value item) {
    Value planes = mul(extents.heads, extents.batches);
    Value width = planes, firstPlane;
    if (extents.section) {
      Value items = mul(extents.section, extents.blocks);
      firstPlane = mul(div(item, items), extents.section);
      item = rem(item, items);
      // The last section may be narrower.
      width = arith::MinUIOp::create(builder, loc, extents.section,
                                     sub(planes, firstPlane));
    }
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    Value block = sub(sub(extents.blocks, one), div(item, width));
    Value plane = rem(item, width);
    if (firstPlane) {
      plane = arith::AddIOp::create(builder, loc, firstPlane, plane);
    }
    return {block, plane};
  }

  WorkPlace split(BlockOfPlane at) {
    return {at.block, rem(at.plane, extents.heads),
            div(at.plane, extents.heads)};
  }

private:
  Value mul(Value a, Value b) {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivUIOp::create(builder, loc, a, b);
  }
  Value rem(Value a, Value b) {
    return arith::RemUIOp::create(builder, loc, a, b);
  }

  OpBuilder &builder;
  Location loc;
  const WorkExtents &extents;
};

} // namespace

WorkPlace codegen::placeOfItem(OpBuilder &builder, Location loc,
                               WorkOrder order, Value item,
                               const WorkExtents &extents) {
  OrderWriter writer(builder, loc, extents);
  return writer.split(order == WorkOrder::Linear ? writer.linear(item)
                                                 : writer.longestFirst(item));
}
