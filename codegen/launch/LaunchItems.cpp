// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchItems.h"
#include "SizeExpressions.h"
#include "attn/codegen/launch/JoinLayout.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

FailureOr<LaunchItems> LaunchItems::of(ws::KernelOp kernel) {
  FailureOr<SmallVector<Attribute>> extents = itemExtents(kernel);
  if (failed(extents)) {
    return failure();
  }
  LaunchItems items(std::move(*extents));
  for (auto cut : kernel.getBody().getOps<tile::CutOp>()) {
    FailureOr<Attribute> length = sizeExpression(kernel, cut.getLength());
    if (failed(length)) {
      return failure();
    }
    if (!JoinLayout::isIn(kernel)) {
      return cut.emitOpError(
          "attn-lower-to-nvvm: expected a 'tile.join' of its "
          "parts in the kernel, got none");
    }
    items.cutLength = *length;
    items.blockRows = cut.getBlock();
    items.mostParts = cut.getMost();
    if (!JoinLayout::of(kernel)->isWhole) {
      items.costs = {20, 10, 3};
    }
  }
  return items;
}

LaunchItems::LaunchItems(SmallVector<Attribute> given)
    : loopExtents(std::move(given)), make(loopExtents[0].getContext()) {
  Attribute planes =
      make.apply(LaunchOp::Mul, {loopExtents[1], loopExtents[2]});
  whole = make.apply(LaunchOp::Mul, {loopExtents[0], planes});
}

Attribute LaunchItems::handedOut() const {
  if (!areCut()) {
    return whole;
  }
  Attribute uncut = make.name(wholeName);
  Attribute cut = make.apply(LaunchOp::Sub, {whole, uncut});
  Attribute parts = make.apply(LaunchOp::Mul, {cut, make.name(partsName)});
  return make.apply(LaunchOp::Add, {uncut, parts});
}

Attribute LaunchItems::partsBytes(int64_t partBytes) const {
  Attribute cut = make.apply(LaunchOp::Sub, {whole, make.name(wholeName)});
  Attribute parts =
      make.apply(LaunchOp::Sub, {make.name(partsName), make.number(1)});
  return make.apply(LaunchOp::Mul, {cut, parts, make.number(partBytes)});
}

/// Computes into how many parts the items of the last wave are cut: the number
/// for which the wave is shortest. A part costs something besides its blocks,
/// and merging another part takes the last one time. Beyond `mostTried` parts,
/// only the number with which the wave has a part for each CTA is tried.
void LaunchItems::createCutValues(OpBuilder &builder, Location loc) const {
  constexpr int64_t mostTried = 16;
  using Op = LaunchOp;
  auto define = [&](const Twine &name, Attribute expr) {
    launch::ValueOp::create(builder, loc, builder.getStringAttr(name), expr);
    return make.name(name);
  };
  Attribute ctas = make.name(kMultiprocessors);
  Attribute tail = define("cut.tail", make.apply(Op::Mod, {whole, ctas}));
  Attribute parts = make.number(1);
  SmallVector<Attribute> before;
  auto consider = [&](const Twine &name, Attribute number, Attribute rows,
                      int64_t partCost, Attribute merging) {
    Attribute waves =
        make.apply(Op::CeilDiv, {make.apply(Op::Mul, {tail, number}), ctas});
    Attribute blocks = make.apply(Op::CeilDiv, {cutLength, rows});
    Attribute each = make.apply(
        Op::Add, {make.apply(Op::Mul, {blocks, make.number(costs.block)}),
                  make.number(partCost)});
    Attribute cost = define(
        name, make.apply(Op::Add,
                         {make.apply(Op::Mul, {waves, each}), merging}));
    if (!before.empty()) {
      Attribute best =
          before.size() == 1 ? before[0] : make.apply(Op::Min, before);
      Attribute isBetter = make.apply(Op::Lt, {cost, best});
      parts = make.apply(Op::Select, {isBetter, number, parts});
    }
    before.push_back(cost);
  };
  for (int64_t p = 1; p <= std::min(mostParts, mostTried); ++p) {
    consider("cut.cost" + Twine(p), make.number(p),
             make.number(p * blockRows), p == 1 ? 0 : costs.part,
             make.number((p - 1) * costs.merging));
  }
  if (mostParts > mostTried) {
    Attribute fill = make.apply(
        Op::Min, {make.apply(Op::Div, {ctas, make.apply(Op::Max, {tail, make.number(1)})}),
                  make.number(mostParts)});
    Attribute rows = make.apply(Op::Mul, {fill, make.number(blockRows)});
    Attribute blocks =
        make.apply(Op::CeilDiv, {cutLength, make.number(blockRows)});
    Attribute each = define("cut.blocks", make.apply(Op::Max, {make.apply(Op::CeilDiv, {cutLength, rows}), make.number(1)}));
    Attribute number = define(
        "cut.fill", make.apply(Op::Max, {make.apply(Op::CeilDiv, {blocks, each}), make.number(1)}));
    Attribute others = make.apply(Op::Sub, {number, make.number(1)});
    consider("cut.cost", number,
             make.apply(Op::Mul, {number, make.number(blockRows)}), costs.part,
             make.apply(Op::Mul, {others, make.number(costs.merging)}));
  }
  Attribute fits =
      make.apply(Op::Ge, {make.number(JoinLayout::mostItems), tail});
  Attribute chosen =
      define(partsName, make.apply(Op::Select, {fits, parts, make.number(1)}));
  Attribute isWhole = make.apply(Op::Eq, {chosen, make.number(1)});
  Attribute cut = make.apply(Op::Select, {isWhole, make.number(0), tail});
  define(wholeName, make.apply(Op::Sub, {whole, cut}));
}
