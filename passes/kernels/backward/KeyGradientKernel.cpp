// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of dK and dV, or of one of them: a work item owns a block of keys
// and streams the queries that see them. For each block of queries it visits
// the query heads of the group one after the other. The rows of the scores are
// keys. A kernel with sums of dQ computes dK, too, and adds the products of dX
// and its keys to the sums.
#include "../Tiling/KeyEquality.h"
#include "../Tiling/QueryRanges.h"
#include "BackwardWriter.h"

using namespace mlir;
using namespace attn;

namespace {

class KeyGradientKernel {
public:
  using Values = BackwardWriter::Values;

  KeyGradientKernel(AttentionBwdOp op) : w(op, Side::Key) {}

  tile::KernelOp write(StringRef name, ArgumentNames names);

private:
  void writeLoopBody(tile::ForOp loop);
  /// Write the new values of the sums that the loop carries.
  Value addToValueGradient(Value sum);
  Value addToKeyGradient(Value sum);
  /// Writes the step that adds up the sums of all parts of an item in its last
  /// part, if items are cut, and returns the sums.
  Values joinParts(ValueRange sums);
  /// Writes a step that rounds P where `kept_p` says so; returns what is kept.
  Value keepForDx(Value probabilities);

  BackwardWriter w;
  Value work, k, v;               // of the item; no V for dV alone
  Value q, outGradient, p, slope; // of the iteration
};

} // namespace

Value KeyGradientKernel::addToValueGradient(Value sum) {
  Value rounded = w.writeKept("cvt_p", p);
  return w.addProduct("mm_dv", rounded, outGradient, sum);
}

Value KeyGradientKernel::keepForDx(Value probabilities) {
  if (w.op.getConfig()->getKeptP() == KeptP::F32) {
    return probabilities;
  }
  Type type = w.scores.clone(w.b.getF16Type());
  return w.b.step("cvt_pk", probabilities, type,
                  [&](ValueRange values) -> SmallVector<Value> {
                    return {w.b.make<arith::TruncFOp>(type, values[0])};
                  })[0];
}

Value KeyGradientKernel::addToKeyGradient(Value sum) {
  Value delta = w.loadRows("ld_dl", w.args.delta, work);
  Value products = w.multiply("dp", v, outGradient);
  bool isScaled = w.args.scalesProbabilities() && slope;
  Value derivatives =
      isScaled ? w.writeDerivatives(slope, products, delta, Value())
               : w.writeDerivatives(keepForDx(p), products, delta, slope);
  Value ds = w.writeRounded("cvt_ds", derivatives);
  Value result = w.addProduct("mm_dk", ds, q, sum);
  if (w.args.sums) {
    w.addToSums(ds, k, work);
  }
  return result;
}

void KeyGradientKernel::writeLoopBody(tile::ForOp loop) {
  OpBuilder::InsertionGuard guard(w.b);
  Block &block = loop.getBody().emplaceBlock();
  w.matrix.iteration = block.addArgument(w.b.getI32Type(), w.b.loc);
  SmallVector<Value> sums;
  for (Type type : loop.getInits().getTypes()) {
    sums.push_back(block.addArgument(type, w.b.loc));
  }
  w.b.setInsertionPointToStart(&block);
  q = w.loadTile("ld_q", w.args.q, Side::Query, work);
  Value lse2 = w.loadRows("ld_lse", w.args.lse2, work);
  outGradient = w.loadTile("ld_do", w.args.outGradient, Side::Query, work);
  Value s = w.multiply("qk", k, q);
  p = w.writeProbabilities(s, lse2, work, slope);
  if (w.args.dv) {
    sums.back() = addToValueGradient(sums.back());
  }
  if (w.args.dk) {
    sums.front() = addToKeyGradient(sums.front());
  }
  tile::YieldOp::create(w.b, w.b.loc, sums);
}

KeyGradientKernel::Values KeyGradientKernel::joinParts(ValueRange sums) {
  if (!w.matrix.ranges.parts) {
    return Values(sums);
  }
  Values operands(sums);
  operands.push_back(work);
  return w.b.step("join", operands, sums.getTypes(), [&](ValueRange values) {
    size_t n = sums.size();
    auto op = tile::JoinOp::create(w.b, w.b.loc, sums.getTypes(), values.back(),
                                   w.matrix.ranges.parts, values.take_front(n));
    Values twice(values.take_front(n));
    llvm::append_range(twice, values.take_front(n));
    w.b.fill(op.getBody().emplaceBlock(), ValueRange(twice).getTypes(),
             [&](ValueRange both) -> Values {
               Values merged;
               for (size_t i = 0; i < n; ++i) {
                 merged.push_back(
                     w.b.make<arith::AddFOp>(both[i], both[n + i]));
               }
               return merged;
             });
    return Values(op.getResults());
  });
}

tile::KernelOp KeyGradientKernel::write(StringRef name, ArgumentNames names) {
  tile::KernelOp kernel = w.createKernel(name, std::move(names));
  work = w.writeNext();
  k = w.loadTile("ld_k", w.args.k, Side::Key, work);
  SmallVector<Value> sums;
  if (w.args.dk) {
    v = w.loadTile("ld_v", w.args.v, Side::Key, work);
    sums.push_back(w.zeroSum(w.args.k));
  }
  if (w.args.dv) {
    sums.push_back(w.zeroSum(w.args.v));
  }
  bool knowsRegion = w.args.seeing && !w.op.hasRowKeys() &&
                     KeyEquality::find(w.op.getMaskRegion()).isAll;
  QueryRanges ranges{w.matrix.ranges, w.op.hasScoreRegion(), w.matrix.repeats,
                     w.args.seeing, knowsRegion};
  auto bounds = ranges.writeBounds(w.b, work);
  auto loop =
      tile::ForOp::create(w.b, w.b.loc, ValueRange(sums).getTypes(), bounds,
                          ranges.ranges(w.b.getContext()), sums);
  writeLoopBody(loop);
  sums = joinParts(loop.getResults());
  if (w.args.dk) {
    w.storeSum("cvt_dk", "st_dk", sums.front(), w.args.dk, work);
  }
  if (w.args.dv) {
    w.storeSum("cvt_dv", "st_dv", sums.back(), w.args.dv, work);
  }
  return kernel;
}

tile::KernelOp attn::writeKeyGradientKernel(AttentionBwdOp op, StringRef name,
                                            ArgumentNames names) {
  return KeyGradientKernel(op).write(name, std::move(names));
}
