// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SoftmaxWriter.h"
#include "Reference.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

constexpr double kLog2e = 1.4426950408889634;

static std::unique_ptr<Reference>
makeReference(SoftmaxBuilder &b, LargeScores &large, ConfigAttr config) {
  int64_t threshold = config.getRescaleThreshold();
  switch (config.getRowMax()) {
  case RowMax::Running:
    return makeRunningReference(b, large, threshold);
  case RowMax::FirstBlock:
    return makeFirstBlockReference(b, large, threshold);
  case RowMax::Integer:
    return makeIntegerReference(b, large, threshold);
  }
  llvm_unreachable("unknown reference");
}

namespace {

class SoftmaxWriter {
public:
  using Values = SoftmaxBuilder::Values;

  SoftmaxWriter(SoftmaxMatch match, ConfigAttr config)
      : match(match), b(match), large(b),
        reference(makeReference(b, large, config)) {}
  void write();

private:
  void writeScale();
  tile::ForOp rebuildLoop();
  SoftmaxState writeIteration(const SoftmaxState &old);
  Value writeBody(tile::StepOp moved, ValueRange arguments);
  Value drop(ValueRange a);
  void addSinks(Value sinks, Value &factor, Value &lse);
  Values merge(ValueRange a, ValueRange other);
  SoftmaxState writeJoin(const SoftmaxState &last);
  void writeResults(SoftmaxState last);

  SoftmaxMatch match;
  SoftmaxBuilder b;
  LargeScores large;
  std::unique_ptr<Reference> reference;
};

} // namespace

/// Computes scale * log2(e), outside the work loop.
void SoftmaxWriter::writeScale() {
  b.setInsertionPoint(match.loop->getParentOp());
  Value log2e = b.make<arith::ConstantOp>(b.getF32FloatAttr(kLog2e));
  b.scale =
      b.createOrFold<arith::MulFOp>(b.loc, match.attend.getScale(), log2e);
  if (log2e.use_empty() && b.scale != log2e) { // both were constants
    log2e.getDefiningOp()->erase();
  }
  large.writeConstants();
}

/// Returns `operands`, and those of a step whose body moves, if there is one.
static SmallVector<Value> with(ValueRange operands, tile::StepOp moved) {
  SmallVector<Value> all(operands);
  if (moved) {
    llvm::append_range(all, moved.getOperands());
  }
  return all;
}

/// Writes the body of `moved` with these arguments; returns its result.
Value SoftmaxWriter::writeBody(tile::StepOp moved, ValueRange arguments) {
  IRMapping map;
  map.map(moved.getBody().getArguments(), arguments);
  for (Operation &op : moved.getBody().front().without_terminator()) {
    b.clone(op, map);
  }
  Operation *yield = moved.getBody().front().getTerminator();
  return map.lookup(yield->getOperand(0));
}

/// Returns the exponentials, which are the first argument, of the keys that
/// dropout keeps; the others are 0.
Value SoftmaxWriter::drop(ValueRange a) {
  if (!match.keepStep) {
    return a[0];
  }
  Value kept = writeBody(match.keepStep, a.drop_front());
  return b.make<arith::SelectOp>(kept, a[0], b.constant(0.0, b.scoreType));
}

/// Adds the sink of each row: multiplies the factor of O by the share that the
/// keys have in the whole sum.
void SoftmaxWriter::addSinks(Value sinks, Value &factor, Value &lse) {
  RankedTensorType row = b.rowType;
  Value one = b.constant(1.0, row), log2e = b.constant(kLog2e, row);
  auto exp = [&](Value x) {
    return b.make<math::Exp2Op>(b.make<arith::MulFOp>(x, log2e));
  };
  Value ofSink = exp(b.make<arith::SubFOp>(sinks, lse));
  Value share = b.make<arith::DivFOp>(one, b.make<arith::AddFOp>(one, ofSink));
  Value zero = b.constant(0.0, row);
  Value empty = b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, factor, zero);
  factor = b.make<arith::SelectOp>(empty, zero,
                                   b.make<arith::MulFOp>(factor, share));
  // A NaN among the scores reaches the LSE.
  Value high = b.make<arith::MaximumFOp>(lse, sinks),
        low = b.make<arith::MinNumFOp>(lse, sinks);
  Value sum = b.make<arith::AddFOp>(one, exp(b.make<arith::SubFOp>(low, high)));
  Value log = b.make<arith::MulFOp>(b.make<math::Log2Op>(sum),
                                    b.constant(1 / kLog2e, row));
  // Without keys and sink both are minus infinity, and their difference a NaN.
  Value isSum = b.make<arith::CmpFOp>(
      arith::CmpFPredicate::OGT, high,
      b.constant(-std::numeric_limits<double>::infinity(), row));
  lse = b.make<arith::SelectOp>(isSum, b.make<arith::AddFOp>(high, log), high);
}

SoftmaxState SoftmaxWriter::writeIteration(const SoftmaxState &old) {
  auto pType = b.scoreType.clone(
      cast<RankedTensorType>(match.values.getType()).getElementType());
  auto [now, scores] = reference->writeStat(old);
  Value p32 =
      b.step("exp", {scores, now.m}, b.scoreType, [&](ValueRange a) -> Values {
        Value scale = b.splatScale(b.scoreType);
        Value bias = b.along(b.make<arith::NegFOp>(a[1]), b.scoreType);
        // An approximation is allowed here: the flag permits `exp2_soft`.
        return {b.make<math::Exp2Op>(b.make<math::FmaOp>(a[0], scale, bias),
                                     arith::FastMathFlags::afn)};
      })[0];
  now.l = reference->writeSum(p32, now.l);
  Value p = b.step("cvt", with(p32, match.keepStep), pType,
                   [&](ValueRange a) -> Values {
                     return {b.make<arith::TruncFOp>(pType, drop(a))};
                   })[0];
  Value scaled = reference->writeRescale(now.o);
  now.o = b.step("pv", {p, match.values, scaled}, b.outType,
                 [&](ValueRange a) -> Values {
                   return {b.make<tile::MmaOp>(b.outType, a[0], a[1], a[2],
                                               /*transpose_b=*/false)};
                 })[0];
  return now;
}

/// Merges two states with different references: the higher reference stays.
SmallVector<Value> SoftmaxWriter::merge(ValueRange a, ValueRange other) {
  Value zero = b.constant(0.0, b.rowType);
  auto select = [&](Value flag, Value yes, Value no) {
    return b.make<arith::SelectOp>(flag, yes, no);
  };
  Value leads = b.isGreater(large.difference(a[0], other[0]), zero);
  Value m = select(leads, a[0], other[0]);
  m = select(large.isNone(a[0]), other[0], m);
  m = select(large.isNone(other[0]), a[0], m);
  auto factorOf = [&](Value reference) {
    Value difference = large.difference(reference, m);
    return b.make<math::Exp2Op>(b.make<arith::MinNumFOp>(difference, zero));
  };
  Value mine = factorOf(a[0]), others = factorOf(other[0]);
  Value l =
      b.make<math::FmaOp>(a[1], mine, b.make<arith::MulFOp>(other[1], others));
  Value added = b.make<arith::MulFOp>(other[2], b.along(others, b.outType));
  Value o = b.make<math::FmaOp>(a[2], b.along(mine, b.outType), added);
  return {m, l, o};
}

/// Joins the states of all parts of an item, in its last part.
SoftmaxState SoftmaxWriter::writeJoin(const SoftmaxState &last) {
  Type types[] = {b.rowType, b.rowType, b.outType};
  Values joined =
      b.step("join", {last.m, last.l, last.o, match.work}, types,
             [&](ValueRange a) -> Values {
               auto op = tile::JoinOp::create(b, b.loc, types, a[3],
                                              match.parts, a.take_front(3));
               Values twice(a.take_front(3));
               llvm::append_range(twice, a.take_front(3));
               b.fill(op.getBody().emplaceBlock(), ValueRange(twice).getTypes(),
                      [&](ValueRange v) {
                        return merge(v.take_front(3), v.drop_front(3));
                      });
               return op.getResults();
             });
  return {joined[0], joined[1], joined[2], last.careful};
}

/// Computes 1/l and the LSE; a row without keys (l = 0) gets O = 0 and LSE =
/// -inf.
void SoftmaxWriter::writeResults(SoftmaxState last) {
  RankedTensorType row = b.rowType;
  b.setInsertionPoint(match.resultStep);
  if (match.parts) {
    last = writeJoin(last);
  }
  Values operands = with({last.l, last.m}, match.sinkStep);
  Values f = b.step("fin", operands, {row, row}, [&](ValueRange a) -> Values {
    Value l = b.make<tile::CompleteOp>(row, a[0]);
    Value zero = b.constant(0.0, row), one = b.constant(1.0, row);
    Value empty = b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, l, zero);
    Value inverse = b.make<arith::DivFOp>(one, l);
    Value factor = b.make<arith::SelectOp>(empty, zero, inverse);
    Value log2Sum = b.make<math::Log2Op>(l);
    Value lse = large.logSumExp(a[1], log2Sum);
    if (match.sinkStep) {
      addSinks(writeBody(match.sinkStep, a.drop_front(2)), factor, lse);
    }
    return {factor, lse};
  });
  reference->writeCheck(last.o, last);
  Value o =
      b.step("norm", {last.o, f[0]}, b.outType, [&](ValueRange a) -> Values {
        return {b.make<arith::MulFOp>(a[0], b.along(a[1], b.outType))};
      })[0];
  match.resultStep.getResult(0).replaceAllUsesWith(o);
  match.resultStep.getResult(1).replaceAllUsesWith(f[1]);
  match.resultStep.erase();
  if (match.sinkStep) {
    match.sinkStep.erase();
  }
}

/// Rebuilds the loop with m, l and O in place of the state; moves its body.
tile::ForOp SoftmaxWriter::rebuildLoop() {
  tile::ForOp old = match.loop;
  b.setInsertionPoint(old);
  unsigned n = match.carried;
  Values inits(old.getInits());
  Value lowest = b.constant(kNoReference, b.rowType);
  Value zero = b.constant(0.0, b.rowType);
  inits.insert(inits.begin() + n, {lowest, zero});
  if (reference->carriesCareful()) {
    inits.push_back(b.make<arith::ConstantIntOp>(kNoReferenceYet, 32));
  }
  auto loop = tile::ForOp::create(b, old.getLoc(), ValueRange(inits).getTypes(),
                                  old.getBounds(), old.getRanges(), inits);
  loop->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  loop.getBody().takeBody(old.getBody());
  Block &block = loop.getBody().front();
  block.insertArgument(n + 1, b.rowType, b.loc);
  block.insertArgument(n + 2, b.rowType, b.loc);
  if (reference->carriesCareful()) {
    block.addArgument(b.getI32Type(), b.loc);
  }
  return loop;
}

void SoftmaxWriter::write() {
  writeScale();
  tile::ForOp old = match.loop, loop = rebuildLoop();
  unsigned n = match.carried;
  Block &block = loop.getBody().front();
  b.setInsertionPoint(match.attendStep);
  SoftmaxState state{block.getArgument(n + 1), block.getArgument(n + 2),
                     block.getArgument(n + 3), Value()};
  if (reference->carriesCareful()) {
    state.careful = block.getArguments().back();
  }
  state = writeIteration(state);
  auto yield = cast<tile::YieldOp>(block.getTerminator());
  Values yielded(yield.getValues());
  yielded[n] = state.o;
  yielded.insert(yielded.begin() + n, {state.m, state.l});
  if (reference->carriesCareful()) {
    yielded.push_back(state.careful);
  }
  yield.getValuesMutable().assign(yielded);
  match.attendStep.erase();
  if (match.keepStep) {
    match.keepStep.erase();
  }

  for (unsigned i = 0, e = old.getNumResults(); i < e; ++i) {
    unsigned shifted = i < n ? i : i + 2;
    old.getResult(i).replaceAllUsesWith(loop.getResult(shifted));
  }
  SoftmaxState last{loop.getResult(n), loop.getResult(n + 1),
                    loop.getResult(n + 2), Value()};
  if (reference->carriesCareful()) {
    last.careful = loop.getResults().back();
  }
  writeResults(last);
  old.erase();
}

void attn::writeOnlineSoftmax(tile::KernelOp kernel, SoftmaxMatch match) {
  SoftmaxWriter(match, *kernel.getConfig()).write();
}
