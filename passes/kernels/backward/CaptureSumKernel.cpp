// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of derivatives by a capture, summed over the keys of each query,
// or over the queries of each key: a work item owns a block of queries or of
// keys and computes their sums. A kernel of elements owns queries and has no
// sums: it adds each derivative to an element in memory.
#include "../CheckList.h"
#include "../Tiling/QueryRanges.h"
#include "BackwardWriter.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

namespace {

/// The steps of a work item before its loop.
struct OwnedRows {
  Side side;
  Value work, first, second; // the tiles of Q and dO, or of K and V
  Value lse2, delta;         // null if keys are owned
};

} // namespace

static OwnedRows loadOwned(BackwardWriter &w, Side side) {
  OwnedRows owned;
  owned.side = side;
  owned.work = w.writeNext();
  bool ofQueries = side == Side::Query;
  owned.first = w.loadTile(ofQueries ? "ld_q" : "ld_k",
                           ofQueries ? w.args.q : w.args.k, side, owned.work);
  owned.second =
      w.loadTile(ofQueries ? "ld_do" : "ld_v",
                 ofQueries ? w.args.outGradient : w.args.v, side, owned.work);
  if (ofQueries) {
    owned.lse2 = w.loadRows("ld_lse", w.args.lse2, owned.work);
    owned.delta = w.loadRows("ld_dl", w.args.delta, owned.work);
  }
  return owned;
}

/// Adds the derivatives to the sums: each lane has a share of each sum.
static Value addRows(BackwardWriter &w, Value derivatives, Value sum) {
  Type rows = sum.getType();
  return w.b.step(
      "add", {derivatives, sum}, rows, [&](ValueRange values) -> Values {
        Value own = w.b.make<tile::ReduceOp>(rows, tile::ReduceKind::Add,
                                             values[0], /*dim=*/1,
                                             /*partial=*/true);
        return {w.b.make<arith::AddFOp>(values[1], own)};
      })[0];
}

/// Adds the derivatives to the elements of the gradient at the indices that the
/// region yields.
static void addElements(BackwardWriter &w, Value derivatives, Value work) {
  TileBuilder &b = w.b;
  b.step("st", {derivatives, work}, {}, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[1]);
    // No index depends on the score.
    Value zero =
        b.make<arith::ConstantOp>(DenseElementsAttr::get(w.scores, 0.0f));
    Values indices =
        w.matrix.liftRegion(w.op.getScoreRegion(), zero, w.args.captures, at);
    indices.erase(indices.begin(), indices.begin() + 2);
    tile::ScatterOp::create(b, b.loc, values[0], w.args.ofCapture, indices,
                            /*add=*/true);
    return {};
  });
}

static void writeLoopBody(BackwardWriter &w, tile::ForOp loop,
                          const OwnedRows &owned) {
  OpBuilder::InsertionGuard guard(w.b);
  Block &block = loop.getBody().emplaceBlock();
  w.matrix.iteration = block.addArgument(w.b.getI32Type(), w.b.loc);
  for (Value init : loop.getInits()) {
    block.addArgument(init.getType(), w.b.loc);
  }
  Value slope;
  w.b.setInsertionPointToStart(&block);
  bool ofQueries = owned.side == Side::Query;
  Side streamed = w.matrix.streamed();
  Value first =
      w.loadTile(ofQueries ? "ld_k" : "ld_q", ofQueries ? w.args.k : w.args.q,
                 streamed, owned.work);
  Value lse2 =
      ofQueries ? owned.lse2 : w.loadRows("ld_lse", w.args.lse2, owned.work);
  Value second = w.loadTile(ofQueries ? "ld_v" : "ld_do",
                            ofQueries ? w.args.v : w.args.outGradient, streamed,
                            owned.work);
  Value delta =
      ofQueries ? owned.delta : w.loadRows("ld_dl", w.args.delta, owned.work);
  Value s = w.multiply("qk", owned.first, first);
  Value products = w.multiply("dp", owned.second, second);
  Value p = w.writeProbabilities(s, lse2, owned.work, slope);
  Value derivatives = w.writeDerivatives(p, products, delta, slope);
  Values sums;
  if (loop.getInits().empty()) {
    addElements(w, derivatives, owned.work);
  } else {
    sums.push_back(addRows(w, derivatives, block.getArgument(1)));
  }
  tile::YieldOp::create(w.b, w.b.loc, sums);
}

/// Writes the steps that complete the sums and store them.
static void storeSums(BackwardWriter &w, Value sum, const OwnedRows &owned) {
  Type rows = sum.getType();
  Value total = w.b.step("total", sum, rows, [&](ValueRange values) -> Values {
    return {w.b.make<tile::CompleteOp>(rows, values[0])};
  })[0];
  w.b.step("st", {total, owned.work}, {}, [&](ValueRange values) -> Values {
    Place at = w.matrix.place(values[1]);
    tile::StoreRowOp::create(w.b, w.b.loc, values[0], w.args.ofCapture,
                             at.batch, at.head, w.matrix.start(owned.side, at),
                             IntegerAttr());
    return {};
  });
}

/// Adds the precondition for a capture that is indexed by the query head: the
/// sums of keys are computed for each head of K.
static void checkHeads(tile::KernelOp kernel, AttentionBwdOp op) {
  std::optional<AffineMap> indices = op.getIndices();
  if (!indices || !indices->isFunctionOfDim(1)) {
    return;
  }
  CheckList checks(kernel.getContext());
  checks.require(
      checks.apply(LaunchOp::Eq, names::keyHeads, names::queryHeads),
      "expected as many heads of K as of Q, for the gradient of a capture at a "
      "head and a key, got {hk} and {hq}");
  checks.addTo(kernel);
}

tile::KernelOp attn::writeCaptureSumKernel(AttentionBwdOp op, StringRef name,
                                           ArgumentNames names) {
  Gradients kind = op.getGradients();
  Side side = kind == Gradients::KeySums ? Side::Key : Side::Query;
  BackwardWriter w(op, side);
  tile::KernelOp kernel = w.createKernel(name, std::move(names));
  checkHeads(kernel, op);
  OwnedRows owned = loadOwned(w, side);
  const KeyRanges &keys = w.matrix.ranges;
  QueryRanges queries{keys, /*masksEnd=*/true, w.matrix.repeats};
  bool ofQueries = side == Side::Query;
  auto bounds = ofQueries ? keys.writeBounds(w.b, owned.work)
                          : queries.writeBounds(w.b, owned.work);
  auto ranges = ofQueries ? keys.ranges(w.b.getContext())
                          : queries.ranges(w.b.getContext());
  Values sums;
  if (kind != Gradients::Elements) {
    auto rows =
        RankedTensorType::get({w.matrix.axis(side).tile}, w.b.getF32Type());
    sums.push_back(
        w.b.make<arith::ConstantOp>(DenseElementsAttr::get(rows, 0.0f)));
  }
  auto loop = tile::ForOp::create(w.b, w.b.loc, ValueRange(sums).getTypes(),
                                  bounds, ranges, sums);
  writeLoopBody(w, loop, owned);
  if (!sums.empty()) {
    storeSums(w, loop.getResult(0), owned);
  }
  return kernel;
}
