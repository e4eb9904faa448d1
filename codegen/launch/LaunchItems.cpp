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
    FailureOr<JoinLayout> join = JoinLayout::of(kernel);
    if (failed(join)) {
      return failure();
    }
    items.partBytes = join->partBytes();
    items.firstPart = join->values;
    if (!join->isWhole) {
      items.costs = {20, 10, 3}; // few rows are merged
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

Attribute LaunchItems::joinedEnd() const {
  Attribute cut = make.apply(LaunchOp::Sub, {whole, make.name(wholeName)});
  Attribute parts =
      make.apply(LaunchOp::Sub, {make.name(partsName), make.number(1)});
  Attribute bytes =
      make.apply(LaunchOp::Mul, {cut, parts, make.number(partBytes)});
  return make.apply(LaunchOp::Add, {bytes, make.number(firstPart)});
}

namespace {

/// Chooses the number of parts for which the last wave is shortest, from
/// numbers that are given one after another.
class PartsChoice {
public:
  using Op = LaunchOp;

  PartsChoice(OpBuilder &builder, Location loc, LaunchItems::Costs costs)
      : builder(builder), loc(loc), make(builder.getContext()), costs(costs),
        chosen(make.number(1)) {}

  Attribute define(const Twine &name, Attribute expr) {
    launch::ValueOp::create(builder, loc, builder.getStringAttr(name), expr);
    return make.name(name);
  }

  /// Considers `number` parts of at most `blocks` blocks, of which the
  /// last one merges `merged` others.
  void consider(const Twine &name, Attribute number, Attribute blocks,
                Attribute merged, bool isWhole = false);

  Attribute get() const { return chosen; }

  Attribute ctas, items; // of the last wave

private:
  OpBuilder &builder;
  Location loc;
  launch::Expressions make;
  LaunchItems::Costs costs;
  Attribute chosen;
  SmallVector<Attribute> before; // costs
};

} // namespace

/// A part costs something besides its blocks, and merging another part takes
/// the last one time.
void PartsChoice::consider(const Twine &name, Attribute number,
                           Attribute blocks, Attribute merged, bool isWhole) {
  Attribute waves =
      make.apply(Op::CeilDiv, {make.apply(Op::Mul, {items, number}), ctas});
  Attribute each = make.apply(
      Op::Add, {make.apply(Op::Mul, {blocks, make.number(costs.block)}),
                make.number(isWhole ? 0 : costs.part)});
  Attribute cost = define(
      name, make.apply(Op::Add, {make.apply(Op::Mul, {waves, each}), merged}));
  if (!before.empty()) {
    Attribute best =
        before.size() == 1 ? before[0] : make.apply(Op::Min, before);
    Attribute isBetter = make.apply(Op::Lt, {cost, best});
    chosen = make.apply(Op::Select, {isBetter, number, chosen});
  }
  before.push_back(cost);
}

/// Computes into how many parts the items of the last wave are cut. Beyond
/// `mostTried` parts only one number is tried: that with which each CTA has a
/// part, or the smallest one whose parts have as many blocks.
void LaunchItems::createCutValues(OpBuilder &builder, Location loc) const {
  constexpr int64_t mostTried = 16;
  using Op = LaunchOp;
  PartsChoice choice(builder, loc, costs);
  Attribute one = make.number(1), ctas = make.name(kMultiprocessors);
  Attribute tail =
      choice.define("cut.tail", make.apply(Op::Mod, {whole, ctas}));
  choice.ctas = ctas;
  choice.items = tail;
  auto blocksOf = [&](Attribute rows) {
    return make.apply(Op::CeilDiv, {cutLength, rows});
  };
  for (int64_t p = 1; p <= std::min(mostParts, mostTried); ++p) {
    choice.consider("cut.cost" + Twine(p), make.number(p),
                    blocksOf(make.number(p * blockRows)),
                    make.number((p - 1) * costs.merging), p == 1);
  }
  if (mostParts > mostTried) {
    Attribute fill = make.apply(
        Op::Min, {make.apply(Op::Div, {ctas, make.apply(Op::Max, {tail, one})}),
                  make.number(mostParts)});
    Attribute rows = make.apply(Op::Mul, {fill, make.number(blockRows)});
    Attribute blocks =
        choice.define("cut.blocks", make.apply(Op::Max, {blocksOf(rows), one}));
    Attribute number = choice.define(
        "cut.fill",
        make.apply(Op::Max,
                   {make.apply(Op::CeilDiv,
                               {blocksOf(make.number(blockRows)), blocks}),
                    one}));
    Attribute others = make.apply(Op::Sub, {number, one});
    choice.consider("cut.cost", number, blocks,
                    make.apply(Op::Mul, {others, make.number(costs.merging)}));
  }
  Attribute fits =
      make.apply(Op::Ge, {make.number(JoinLayout::mostItems), tail});
  Attribute chosen = choice.define(
      partsName, make.apply(Op::Select, {fits, choice.get(), one}));
  Attribute isWhole = make.apply(Op::Eq, {chosen, one});
  Attribute cut = make.apply(Op::Select, {isWhole, make.number(0), tail});
  choice.define(wholeName, make.apply(Op::Sub, {whole, cut}));
}
