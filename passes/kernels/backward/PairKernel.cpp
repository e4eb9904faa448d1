// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of derivatives by a capture that each pair of a query and a key
// reads at its own place: a work item owns the elements of a block of queries,
// of one batch and one head of the capture. It streams all keys of the capture,
// and for each block of them the batches and heads that share the elements.
#include "../CheckList.h"
#include "BackwardWriter.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

namespace {

/// The positions of a pair, in the order of the map's dimensions.
enum PairDim : unsigned { Batch, Head, Query, Key };

class PairWriter {
public:
  explicit PairWriter(AttentionBwdOp op)
      : w(op, Side::Query), b(w.b), indices(*op.getIndices()) {}

  tile::KernelOp write(StringRef name, ArgumentNames names);

private:
  /// Returns the dimension of the result that a position indexes.
  std::optional<unsigned> dimOf(PairDim position) const {
    std::optional<unsigned> dim =
        indices.getResultPosition(getAffineDimExpr(position, b.getContext()));
    return dim;
  }
  /// Returns a size of the result, as i32.
  Value sizeOf(unsigned dim) { return b.sizeOf(w.args.ofCapture, dim); }
  void describeSizes(tile::KernelOp kernel);
  Value writeNext();
  tile::ForOp writeLoop(Value work);
  void writeLoopBody(tile::ForOp loop, Value work);
  Value isOuter(bool isFirst);
  Value add(Value derivatives, Value sum);
  void store(Value sum, Value work);

  BackwardWriter w;
  TileBuilder &b;
  AffineMap indices;
};

} // namespace

/// Adds preconditions: the batches and heads of the capture are those of Q, a
/// dimension that is indexed by 0 has one element, iterations have 32-bit
/// numbers, and there is something to load.
void PairWriter::describeSizes(tile::KernelOp kernel) {
  CheckList checks(b.getContext());
  ArgumentsAttr args = kernel.getArgs();
  ArgumentAttr result = args[*args.find(ArgumentRole::CaptureGradient)];
  StringRef name = result.getName().getValue();
  auto apply = [&](LaunchOp op, auto x, auto y) {
    return checks.apply(op, x, y);
  };
  auto checkSize = [&](unsigned dim, auto wanted, StringRef words) {
    StringAttr size = result.getDims()[dim];
    checks.require(apply(LaunchOp::Eq, Attribute(size), wanted),
                   "expected dimension " + Twine(dim) + " of " + name +
                       " to be " + words + ", got {" + size.getValue() + "}");
  };
  for (auto [dim, index] : llvm::enumerate(indices.getResults())) {
    auto position = dyn_cast<AffineDimExpr>(index);
    if (!position) {
      checkSize(dim, 1, "1");
    } else if (position.getPosition() == Batch) {
      checkSize(dim, names::batches, "the batch size, {b}");
    } else if (position.getPosition() == Head) {
      checkSize(dim, names::queryHeads, "the number of query heads, {hq}");
    }
  }
  Attribute queries = result.getDims()[*dimOf(Query)],
            keys = result.getDims()[*dimOf(Key)];
  Attribute count = apply(LaunchOp::Max, keys, 1);
  for (auto [position, size] :
       {std::pair(Batch, names::batches), std::pair(Head, names::queryHeads)}) {
    count = dimOf(position) ? count : apply(LaunchOp::Mul, count, size);
  }
  checks.require(
      apply(LaunchOp::Lt, apply(LaunchOp::Max, queries, count), kItemLimit),
      "expected the queries of " + name +
          ", and its keys times the batches and heads that share them, to be "
          "fewer than " +
          Twine(kItemLimit));
  // Tiles of an empty tensor cannot be loaded, not even as zeros.
  Attribute sizes =
      apply(LaunchOp::Min, apply(LaunchOp::Min, names::queries, names::keys),
            apply(LaunchOp::Min, names::batches, names::queryHeads));
  Attribute hasElements =
      apply(LaunchOp::Min, apply(LaunchOp::Min, queries, keys), 1);
  checks.require(
      apply(LaunchOp::Ge, sizes, hasElements),
      "expected queries, keys, batches and heads for the elements of " + name +
          ", got {sq} queries, {sk} keys, {b} batches and {hq} heads");
  checks.addTo(kernel);
}

Value PairWriter::writeNext() {
  Axis &axis = w.matrix.axis(Side::Query);
  Value one = b.i32(1);
  Value blocks = b.ceilDiv(sizeOf(*dimOf(Query)), axis.tileSize);
  w.sumsBatches = !dimOf(Batch);
  w.sumsHeads = !dimOf(Head);
  w.matrix.repeats = w.sumsHeads ? w.heads : w.sumsBatches ? w.batches : one;
  w.matrix.outerRepeats = w.sumsHeads && w.sumsBatches ? w.batches : Value();
  Value heads = w.sumsHeads ? one : w.heads,
        batches = w.sumsBatches ? one : w.batches;
  return b.beginWork(blocks, heads, batches);
}

/// Whether this iteration is the first one on its block, or the last one: they
/// count down.
Value PairWriter::isOuter(bool isFirst) {
  Value result;
  Value counts[] = {w.matrix.repeats, w.matrix.outerRepeats};
  for (auto [member, count] : llvm::zip(w.matrix.members(), counts)) {
    Value wanted = isFirst ? b.sub(count, b.i32(1)) : b.i32(0);
    Value is = b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, member, wanted);
    result = result ? b.make<arith::AndIOp>(result, is) : is;
  }
  return result;
}

/// Adds derivatives to the sum of a block.
Value PairWriter::add(Value derivatives, Value sum) {
  return b.step("add", {derivatives, sum}, w.scores,
                [&](ValueRange values) -> Values {
                  Value begins = isOuter(/*isFirst=*/true);
                  return {b.make<tile::AccumulateOp>(w.scores, values[1],
                                                     values[0], begins)};
                })[0];
}

/// Stores the sum of a block after its last batch and head.
void PairWriter::store(Value sum, Value work) {
  b.step("st", {sum, work}, {}, [&](ValueRange values) -> Values {
    Place at = w.matrix.place(values[1]);
    Value isLast = isOuter(/*isFirst=*/false);
    Value queries = w.matrix.coords(Side::Query, at),
          keys = w.matrix.coords(Side::Key, at);
    // A sum that is not complete gets an index out of bounds, so it is not
    // stored.
    Value dropped = b.like(b.i32(-1), queries);
    queries = b.make<arith::SelectOp>(isLast, queries, dropped);
    Values where;
    for (AffineExpr index : indices.getResults()) {
      auto position = dyn_cast<AffineDimExpr>(index);
      Value of[] = {at.batch, at.head, queries, keys};
      where.push_back(position ? of[position.getPosition()] : b.i32(0));
    }
    tile::ScatterOp::create(b, b.loc, values[0], w.args.ofCapture, where,
                            /*add=*/false);
    return {};
  });
}

void PairWriter::writeLoopBody(tile::ForOp loop, Value work) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = loop.getBody().emplaceBlock();
  w.matrix.iteration = block.addArgument(b.getI32Type(), b.loc);
  Value sum = block.addArgument(w.scores, b.loc), slope;
  b.setInsertionPointToStart(&block);
  Value q = w.loadTile("ld_q", w.args.q, Side::Query, work);
  Value lse2 = w.loadRows("ld_lse", w.args.lse2, work);
  Value outGradient =
      w.loadTile("ld_do", w.args.outGradient, Side::Query, work);
  Value delta = w.loadRows("ld_dl", w.args.delta, work);
  Value k = w.loadTile("ld_k", w.args.k, Side::Key, work);
  Value v = w.loadTile("ld_v", w.args.v, Side::Key, work);
  Value s = w.multiply("qk", q, k);
  Value products = w.multiply("dp", outGradient, v);
  Value p = w.writeProbabilities(s, lse2, work, slope);
  Value next = add(w.writeDerivatives(p, products, delta, slope), sum);
  store(next, work);
  tile::YieldOp::create(b, b.loc, next);
}

/// Writes the loop over all blocks of keys of the capture. All of them are
/// masked, because every element is written, even if the mask excludes its
/// pair.
tile::ForOp PairWriter::writeLoop(Value work) {
  Value keys = sizeOf(*dimOf(Key));
  Value zero =
      b.make<arith::ConstantOp>(DenseElementsAttr::get(w.scores, 0.0f));
  Type i32 = b.getI32Type();
  auto bounds = tile::BoundsOp::create(b, b.loc, {i32, i32}, work);
  b.fill(bounds.getBody().emplaceBlock(), work.getType(),
         [&](ValueRange) -> Values {
           Value blocks = b.ceilDiv(keys, w.matrix.axis(Side::Key).tileSize);
           Value iterations = b.mul(blocks, w.matrix.repeats);
           return {w.matrix.outerRepeats
                       ? b.mul(iterations, w.matrix.outerRepeats)
                       : iterations,
                   b.i32(0)};
         });
  auto all = tile::RangeAttr::get(b.getContext(), tile::RangeKind::Masked,
                                  std::nullopt);
  auto ranges =
      tile::RangesAttr::get(b.getContext(), tile::Direction::Down, {all});
  return tile::ForOp::create(b, b.loc, w.scores, bounds.getResults(), ranges,
                             zero);
}

tile::KernelOp PairWriter::write(StringRef name, ArgumentNames names) {
  tile::KernelOp kernel = w.createKernel(name, std::move(names));
  describeSizes(kernel);
  Value work = writeNext();
  tile::ForOp loop = writeLoop(work);
  writeLoopBody(loop, work);
  return kernel;
}

tile::KernelOp attn::writePairKernel(AttentionBwdOp op, StringRef name,
                                     ArgumentNames names) {
  return PairWriter(op).write(name, std::move(names));
}
