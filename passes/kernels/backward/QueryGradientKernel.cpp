// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of dQ: a work item owns a block of queries and streams the keys
// that they see.
#include "BackwardWriter.h"

using namespace mlir;
using namespace attn;

namespace {

/// The tiles of the queries of a work item.
struct OwnedQueries {
  Value work, q, outGradient, lse2, delta;
};

} // namespace

static void writeLoopBody(BackwardWriter &w, tile::ForOp loop,
                          const OwnedQueries &owned) {
  OpBuilder::InsertionGuard guard(w.b);
  Block &block = loop.getBody().emplaceBlock();
  w.matrix.iteration = block.addArgument(w.b.getI32Type(), w.b.loc);
  Value sum = block.addArgument(loop.getInits()[0].getType(), w.b.loc), slope;
  w.b.setInsertionPointToStart(&block);
  Value k = w.loadTile("ld_k", w.args.k, Side::Key, owned.work);
  Value v = w.loadTile("ld_v", w.args.v, Side::Key, owned.work);
  Value s = w.multiply("qk", owned.q, k);
  Value products = w.multiply("dp", owned.outGradient, v);
  Value p = w.writeProbabilities(s, owned.lse2, owned.work, slope);
  Value ds = w.writeRounded(
      "cvt_ds", w.writeDerivatives(p, products, owned.delta, slope));
  tile::YieldOp::create(w.b, w.b.loc, w.addProduct("mm_dq", ds, k, sum));
}

tile::KernelOp attn::writeQueryGradientKernel(AttentionBwdOp op, StringRef name,
                                              ArgumentNames names) {
  BackwardWriter w(op, Side::Query);
  tile::KernelOp kernel = w.createKernel(name, std::move(names));
  OwnedQueries owned;
  owned.work = w.writeNext();
  owned.q = w.loadTile("ld_q", w.args.q, Side::Query, owned.work);
  owned.outGradient =
      w.loadTile("ld_do", w.args.outGradient, Side::Query, owned.work);
  owned.lse2 = w.loadRows("ld_lse", w.args.lse2, owned.work);
  owned.delta = w.loadRows("ld_dl", w.args.delta, owned.work);
  const KeyRanges &ranges = w.matrix.ranges;
  auto bounds = ranges.writeBounds(w.b, owned.work);
  Value zero = w.zeroSum(w.args.q);
  auto loop = tile::ForOp::create(w.b, w.b.loc, zero.getType(), bounds,
                                  ranges.ranges(w.b.getContext()), zero);
  writeLoopBody(w, loop, owned);
  w.storeSum("cvt_dq", "st_dq", loop.getResult(0), w.args.dq, owned.work);
  return kernel;
}
