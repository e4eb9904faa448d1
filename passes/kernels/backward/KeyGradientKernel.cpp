// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of dK and dV: a work item owns a block of keys and streams the
// queries that see them, for each block of queries one query head of the group
// after the other. Scores have keys as rows.
#include "../Tiling/QueryRanges.h"
#include "BackwardWriter.h"

using namespace mlir;
using namespace attn;

namespace {

/// The tiles of the keys of a work item.
struct OwnedKeys {
  Value work, k, v;
};

} // namespace

static void writeLoopBody(BackwardWriter &w, tile::ForOp loop,
                          const OwnedKeys &owned) {
  OpBuilder::InsertionGuard guard(w.b);
  Block &block = loop.getBody().emplaceBlock();
  w.matrix.iteration = block.addArgument(w.b.getI32Type(), w.b.loc);
  Value dk = block.addArgument(loop.getInits()[0].getType(), w.b.loc);
  Value dv = block.addArgument(loop.getInits()[1].getType(), w.b.loc), slope;
  w.b.setInsertionPointToStart(&block);
  Value q = w.loadTile("ld_q", w.args.q, Side::Query, owned.work);
  Value lse2 = w.loadRows("ld_lse", w.args.lse2, owned.work);
  Value outGradient =
      w.loadTile("ld_do", w.args.outGradient, Side::Query, owned.work);
  Value delta = w.loadRows("ld_dl", w.args.delta, owned.work);
  Value s = w.multiply("qk", owned.k, q);
  Value products = w.multiply("dp", owned.v, outGradient);
  Value p32 = w.writeProbabilities(s, lse2, owned.work, slope);
  Value p = w.writeRounded("cvt_p", p32);
  Value ds =
      w.writeRounded("cvt_ds", w.writeDerivatives(p32, products, delta, slope));
  dv = w.addProduct("mm_dv", p, outGradient, dv);
  dk = w.addProduct("mm_dk", ds, q, dk);
  tile::YieldOp::create(w.b, w.b.loc, {dk, dv});
}

tile::KernelOp attn::writeKeyGradientKernel(AttentionBwdOp op, StringRef name,
                                            ArgumentNames names) {
  BackwardWriter w(op, Side::Key);
  tile::KernelOp kernel = w.createKernel(name, std::move(names));
  OwnedKeys owned;
  owned.work = w.writeNext();
  owned.k = w.loadTile("ld_k", w.args.k, Side::Key, owned.work);
  owned.v = w.loadTile("ld_v", w.args.v, Side::Key, owned.work);
  QueryRanges ranges{w.matrix.ranges, op.hasScoreRegion(), w.matrix.repeats};
  auto bounds = ranges.writeBounds(w.b, owned.work);
  Value sums[] = {w.zeroSum(w.args.k), w.zeroSum(w.args.v)};
  auto loop =
      tile::ForOp::create(w.b, w.b.loc, ValueRange(sums).getTypes(), bounds,
                          ranges.ranges(w.b.getContext()), sums);
  writeLoopBody(w, loop, owned);
  w.storeSum("cvt_dk", "st_dk", loop.getResult(0), /*scaled=*/true, w.args.dk,
             owned.work);
  w.storeSum("cvt_dv", "st_dv", loop.getResult(1), /*scaled=*/false, w.args.dv,
             owned.work);
  return kernel;
}
