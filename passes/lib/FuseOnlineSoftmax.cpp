// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuse-online-softmax: softmax over whole rows becomes the recurrence of
// (m, l, O): row maximum in log2 units, partial row sum, unnormalized output.
#include "attn/passes/Passes.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_FUSEONLINESOFTMAX
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

constexpr double kLog2e = 1.4426950408889634;
constexpr double kLn2 = 0.6931471805599453;
/// A partial row sum beyond it moves the reference of the exponentials: far below
/// the largest sum, and the largest probability in P's type.
static double largeSum(Type p) { return p.isF16() ? 1 << 10 : 1 << 24; }

namespace {

/// The abstract softmax of one kernel.
struct Match {
  tile::ForOp loop;
  tile::StepOp attendStep, resultStep;
  tile::AttendOp attend;
  unsigned carried = 0;        // number of the state among the loop's values
  Value scores, values, state; // operands of the attend step
  Value work;
};

/// Writes the steps of the recurrence.
class SoftmaxWriter {
public:
  SoftmaxWriter(tile::KernelOp kernel, Match match)
      : kernel(kernel), match(match), builder(kernel.getContext()),
        loc(match.attend.getLoc()),
        threshold(kernel.getConfig()->getRescaleThreshold()),
        lazy(kernel.getConfig()->getRowMax() == RowMax::FirstBlock) {
    f32 = builder.getF32Type();
    auto shape = cast<RankedTensorType>(match.scores.getType()).getShape();
    scoreType = RankedTensorType::get(shape, f32);
    rowType = RankedTensorType::get(shape[0], f32);
    outType = cast<RankedTensorType>(match.state.getType());
  }
  void write();

private:
  using Body = function_ref<SmallVector<Value>(ValueRange)>;
  /// `careful`, of a reference from the first block: some row of the warp has
  /// none yet. Null where the maximum is running.
  struct Carried {
    Value m, l, o, careful;
  };
  /// What `stat` makes: `grown`, with a reference from the first block: some
  /// row of the warp may have a new one, and `l` is in its units. Else null.
  struct Reference {
    Value m, alpha, l, careful, grown;
  };

  void writeScale();
  tile::ForOp rebuildLoop();
  Carried writeIteration(const Carried &old);
  void writeResults(Carried last);
  Reference writeReference(const Carried &old);
  SmallVector<Value> stat(Value x, Value previous, Value floor);
  SmallVector<Value> lazyStat(ValueRange operands);
  void writeCheck(Value o, Value lse);
  Value rescale(Value x, Value alpha, Value grown);
  Value rescaleIf(Value any, Value x, Value alpha);
  SmallVector<Value> step(StringRef name, ValueRange operands,
                          TypeRange results, Body body);

  Value splat(Value scalar, RankedTensorType type) {
    return tensor::SplatOp::create(builder, loc, scalar, type);
  }
  Value constant(double value, RankedTensorType type) {
    auto attr = DenseElementsAttr::get(type, static_cast<float>(value));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value along(Value row, RankedTensorType type) {
    return tile::BroadcastOp::create(builder, loc, type, row, 1);
  }
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }

  tile::KernelOp kernel;
  Match match;
  OpBuilder builder;
  Location loc;
  int64_t threshold;
  bool lazy;
  Type f32;
  RankedTensorType scoreType, rowType, outType;
  Value c; // exponents are score * c, in log2 units
};

} // namespace

//===----------------------------------------------------------------------===//
// Steps.
//===----------------------------------------------------------------------===//

SmallVector<Value> SoftmaxWriter::step(StringRef name, ValueRange operands,
                                       TypeRange results, Body body) {
  auto op = tile::StepOp::create(builder, loc, results, name, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = op.getBody().emplaceBlock();
  block.addArguments(operands.getTypes(),
                     SmallVector<Location>(operands.size(), loc));
  builder.setInsertionPointToStart(&block);
  tile::YieldOp::create(builder, loc, body(block.getArguments()));
  return llvm::to_vector_of<Value>(op.getResults());
}

/// c = scale * log2(e), outside the work loop.
void SoftmaxWriter::writeScale() {
  builder.setInsertionPoint(match.loop->getParentOp());
  Value log2e = make<arith::ConstantOp>(builder.getF32FloatAttr(kLog2e));
  Value scale = match.attend.getScale();
  c = builder.createOrFold<arith::MulFOp>(loc, scale, log2e);
  if (log2e.use_empty() && c != log2e) { // both were constants
    log2e.getDefiningOp()->erase();
  }
}

/// m moves only where it grew by more than the threshold; alpha = 1 elsewhere.
/// `floor`, if not null, is another lower bound of the next m.
SmallVector<Value> SoftmaxWriter::stat(Value x, Value previous, Value floor) {
  Value cs = splat(c, rowType);
  Value tau = threshold > 0 ? constant(threshold, rowType) : Value();
  Value top = make<tile::ReduceOp>(rowType, tile::ReduceKind::Max, x, 1,
                                   /*partial=*/false);
  Value current = make<arith::MulFOp>(top, cs);
  if (floor) {
    current = make<arith::MaxNumFOp>(current, floor);
  }
  Value limit = tau ? make<arith::AddFOp>(previous, tau) : previous;
  Value grew = make<arith::CmpFOp>(arith::CmpFPredicate::OGT, current, limit);
  // The larger of both, and not their product's factors: contracted into one
  // rounding, the difference would not be that of the maxima that P uses. The old
  // maximum is last read by `next`, which can then take its register.
  Value larger = make<arith::MaxNumFOp>(current, previous);
  Value growth = make<arith::SubFOp>(previous, larger);
  Value difference =
      make<arith::SelectOp>(grew, growth, constant(0.0, rowType));
  Value next = make<arith::SelectOp>(grew, larger, previous);
  return {next, make<math::Exp2Op>(difference)};
}

/// Looks at the scores only where some row of the warp has no reference yet, or
/// where a sum has become large: then m grows with the sum as well.
SmallVector<Value> SoftmaxWriter::lazyStat(ValueRange operands) {
  Value x = operands[0], m = operands[1], l = operands[2];
  Value careful = operands[3], work = operands[4];
  Value limit = constant(
      largeSum(getElementTypeOrSelf(match.values.getType())), rowType);
  Value large = make<arith::CmpFOp>(arith::CmpFPredicate::OGT, l, limit);
  Value look = make<arith::OrIOp>(careful, make<tile::AnyOp>(large));
  Type types[] = {rowType, rowType, rowType, builder.getI1Type()};
  auto branch = scf::IfOp::create(builder, loc, types, look,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value sum = make<tile::CompleteOp>(rowType, l);
    Value exceeds = make<arith::CmpFOp>(arith::CmpFPredicate::OGT, sum, limit);
    Value ofSum = make<arith::AddFOp>(m, make<math::Log2Op>(sum));
    auto next = stat(x, m, make<arith::SelectOp>(exceeds, ofSum, m));
    Value scaled = make<arith::MulFOp>(l, next[1]);
    Value lowest = constant(-std::numeric_limits<float>::max(), rowType);
    Value none = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, next[0], lowest);
    Value stay = make<arith::OrIOp>(make<tile::AnyOp>(none),
                                    make<tile::IsRedoOp>(work));
    scf::YieldOp::create(builder, loc,
                         ValueRange{next[0], next[1], scaled, stay});
    builder.setInsertionPointToStart(branch.elseBlock());
    Value no = make<arith::ConstantIntOp>(0, 1);
    scf::YieldOp::create(builder, loc,
                         ValueRange{m, constant(1.0, rowType), l, no});
  }
  SmallVector<Value> results(branch.getResults());
  results.push_back(look);
  return results;
}

/// x * alpha where `any` holds.
Value SoftmaxWriter::rescaleIf(Value any, Value x, Value alpha) {
  auto branch = scf::IfOp::create(builder, loc, TypeRange(outType), any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value product = make<arith::MulFOp>(x, along(alpha, outType));
  scf::YieldOp::create(builder, loc, product);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, x);
  return branch.getResult(0);
}

/// x * alpha; with a threshold only where some row of the warp needs it.
Value SoftmaxWriter::rescale(Value x, Value alpha, Value grown) {
  if (grown) {
    return rescaleIf(grown, x, alpha);
  }
  if (threshold == 0) {
    return make<arith::MulFOp>(x, along(alpha, outType));
  }
  Value one = constant(1.0, rowType);
  Value changed = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, alpha, one);
  return rescaleIf(make<tile::AnyOp>(changed), x, alpha);
}

SoftmaxWriter::Reference SoftmaxWriter::writeReference(const Carried &old) {
  if (!lazy) {
    auto s = step("stat", {match.scores, old.m}, {rowType, rowType},
                  [&](ValueRange a) { return stat(a[0], a[1], Value()); });
    return {s[0], s[1], old.l, Value(), Value()};
  }
  Type flag = builder.getI1Type();
  auto s = step("stat", {match.scores, old.m, old.l, old.careful, match.work},
                {rowType, rowType, rowType, flag, flag},
                [&](ValueRange a) { return lazyStat(a); });
  return {s[0], s[1], s[2], s[3], s[4]};
}

SoftmaxWriter::Carried SoftmaxWriter::writeIteration(const Carried &old) {
  using Values = SmallVector<Value>;
  auto pType = scoreType.clone(
      cast<RankedTensorType>(match.values.getType()).getElementType());
  Reference now = writeReference(old);
  Value p32 = step("exp", {match.scores, now.m}, scoreType,
                   [&](ValueRange a) -> Values {
                     Value cs = splat(c, scoreType);
                     Value bias =
                         along(make<arith::NegFOp>(a[1]), scoreType);
                     return {make<math::Exp2Op>(
                         make<math::FmaOp>(a[0], cs, bias))};
                   })[0];
  Values addends{p32, now.l};
  if (!lazy) {
    addends.push_back(now.alpha);
  }
  Value l = step("sum", addends, rowType, [&](ValueRange a) -> Values {
    Value sum = make<tile::ReduceOp>(rowType, tile::ReduceKind::Add, a[0], 1,
                                     /*partial=*/true);
    if (lazy) {
      return {make<arith::AddFOp>(a[1], sum)};
    }
    return {make<math::FmaOp>(a[1], a[2], sum)};
  })[0];
  Value p = step("cvt", p32, pType, [&](ValueRange a) -> Values {
    return {make<arith::TruncFOp>(pType, a[0])};
  })[0];
  Values scale{old.o, now.alpha};
  if (lazy) {
    scale.push_back(now.grown);
  }
  Value scaled = step("rescale", scale, outType, [&](ValueRange a) -> Values {
    return {rescale(a[0], a[1], lazy ? a[2] : Value())};
  })[0];
  Value o = step("pv", {p, match.values, scaled}, outType,
                 [&](ValueRange a) -> Values {
                   return {make<tile::MmaOp>(outType, a[0], a[1], a[2],
                                             /*transpose_b=*/false)};
                 })[0];
  return {now.m, l, o, now.careful};
}

/// Exponentials that overflowed leave an LSE or an O that is not finite.
void SoftmaxWriter::writeCheck(Value o, Value lse) {
  step("check", {o, lse, match.work}, {}, [&](ValueRange a) {
    Value infinity =
        constant(std::numeric_limits<float>::infinity(), rowType);
    // The sum of a row is finite only if its elements are.
    Value sum = make<tile::ReduceOp>(rowType, tile::ReduceKind::Add, a[0], 1,
                                     /*partial=*/true);
    auto isWrong = [&](Value x) {
      return make<arith::CmpFOp>(arith::CmpFPredicate::UGE, x, infinity);
    };
    Value wrong = make<arith::OrIOp>(isWrong(make<math::AbsFOp>(sum)),
                                     isWrong(a[1]));
    tile::RejectOp::create(builder, loc, a[2], make<tile::AnyOp>(wrong));
    return SmallVector<Value>();
  });
}

/// 1/l and the LSE; a row without keys (l = 0) gives 0 and -inf.
void SoftmaxWriter::writeResults(Carried last) {
  using Values = SmallVector<Value>;
  builder.setInsertionPoint(match.resultStep);
  Values f = step(
      "fin", {last.l, last.m}, {rowType, rowType}, [&](ValueRange a) -> Values {
        Value l = make<tile::CompleteOp>(rowType, a[0]);
        Value zero = constant(0.0, rowType), one = constant(1.0, rowType);
        Value ln2 = constant(kLn2, rowType);
        Value empty = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, l, zero);
        Value inverse = make<arith::DivFOp>(one, l);
        Value factor = make<arith::SelectOp>(empty, zero, inverse);
        Value lse = make<arith::AddFOp>(a[1], make<math::Log2Op>(l));
        return {factor, make<arith::MulFOp>(lse, ln2)};
      });
  Value o = step("norm", {last.o, f[0]}, outType, [&](ValueRange a) -> Values {
    return {make<arith::MulFOp>(a[0], along(a[1], outType))};
  })[0];
  if (lazy) {
    writeCheck(o, f[1]);
  }
  match.resultStep.getResult(0).replaceAllUsesWith(o);
  match.resultStep.getResult(1).replaceAllUsesWith(f[1]);
  match.resultStep.erase();
}

//===----------------------------------------------------------------------===//
// The loop.
//===----------------------------------------------------------------------===//

/// The loop with m, l and O in the place of the state; its body is moved.
tile::ForOp SoftmaxWriter::rebuildLoop() {
  tile::ForOp old = match.loop;
  builder.setInsertionPoint(old);
  unsigned n = match.carried;
  SmallVector<Value> inits(old.getInits());
  Value lowest = constant(-std::numeric_limits<float>::max(), rowType);
  Value zero = constant(0.0, rowType);
  inits.insert(inits.begin() + n, {lowest, zero});
  if (lazy) {
    inits.push_back(make<arith::ConstantIntOp>(1, 1));
  }
  auto loop =
      tile::ForOp::create(builder, old.getLoc(), ValueRange(inits).getTypes(),
                          old.getBounds(), old.getKinds(), inits);
  loop->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  loop.getBody().takeBody(old.getBody());
  Block &block = loop.getBody().front();
  block.insertArgument(n + 1, rowType, loc);
  block.insertArgument(n + 2, rowType, loc);
  if (lazy) {
    block.addArgument(builder.getI1Type(), loc);
  }
  return loop;
}

void SoftmaxWriter::write() {
  writeScale();
  tile::ForOp old = match.loop, loop = rebuildLoop();
  unsigned n = match.carried;
  Block &block = loop.getBody().front();
  builder.setInsertionPoint(match.attendStep);
  Carried next =
      writeIteration({block.getArgument(n + 1), block.getArgument(n + 2),
                      block.getArgument(n + 3),
                      lazy ? Value(block.getArguments().back()) : Value()});
  auto yield = cast<tile::YieldOp>(block.getTerminator());
  SmallVector<Value> yielded(yield.getValues());
  yielded[n] = next.o;
  yielded.insert(yielded.begin() + n, {next.m, next.l});
  if (lazy) {
    yielded.push_back(next.careful);
  }
  yield.getValuesMutable().assign(yielded);
  match.attendStep.erase();

  for (unsigned i = 0, e = old.getNumResults(); i < e; ++i) {
    unsigned shifted = i < n ? i : i + 2;
    old.getResult(i).replaceAllUsesWith(loop.getResult(shifted));
  }
  writeResults({loop.getResult(n), loop.getResult(n + 1),
                loop.getResult(n + 2), Value()});
  old.erase();
}

//===----------------------------------------------------------------------===//
// The pass.
//===----------------------------------------------------------------------===//

/// The step that holds `op` alone, its operands being the step's.
static FailureOr<tile::StepOp> stepOf(Operation *op, unsigned operands) {
  auto step = dyn_cast<tile::StepOp>(op->getParentOp());
  if (!step || !llvm::hasNItems(step.getBody().front(), 2)) {
    return op->emitOpError("expected to be the only op of a 'tile.step'");
  }
  if (step->getNumOperands() != operands) {
    return op->emitOpError("expected step @")
           << step.getName() << " to have " << operands << " operands, got "
           << step->getNumOperands();
  }
  for (unsigned i = 0; i < operands; ++i) {
    if (op->getOperand(i) != step.getBody().getArgument(i)) {
      return op->emitOpError("expected operand #")
             << i << " to be argument #" << i << " of step @" << step.getName();
    }
  }
  if (!llvm::equal(step.getBody().front().getTerminator()->getOperands(),
                   op->getResults())) {
    return op->emitOpError("expected step @")
           << step.getName() << " to yield the results of the op";
  }
  return step;
}

/// The state: a carried value that starts at zero and only attend touches.
static LogicalResult matchState(Match &match) {
  tile::AttendOp op = match.attend;
  auto state = dyn_cast<BlockArgument>(match.state);
  if (!state || state.getOwner() != &match.loop.getBody().front() ||
      state.getArgNumber() == 0) {
    return op.emitOpError("expected 'state' to be carried by the 'tile.for'");
  }
  match.carried = state.getArgNumber() - 1;
  Operation *yield = match.loop.getBody().front().getTerminator();
  if (yield->getOperand(match.carried) != match.attendStep.getResult(0)) {
    return op.emitOpError("expected the loop to carry the result of step @")
           << match.attendStep.getName() << " as value #" << match.carried;
  }
  if (!state.hasOneUse() || !match.attendStep.getResult(0).hasOneUse()) {
    return op.emitOpError("expected 'state' and the result to have no other "
                          "use in the loop");
  }
  if (!matchPattern(match.loop.getInits()[match.carried], m_AnyZeroFloat())) {
    return match.loop.emitOpError("expected the attend state, value #")
           << match.carried << ", to start at zero";
  }
  return success();
}

static LogicalResult matchResult(Match &match) {
  Value last = match.loop.getResult(match.carried);
  for (Operation *user : last.getUsers()) {
    auto step = dyn_cast<tile::StepOp>(user);
    if (!step || match.resultStep) {
      return user->emitOpError("expected one step with 'tile.attend_result' to "
                               "be the only use of the attend state");
    }
    match.resultStep = step;
  }
  if (!match.resultStep) {
    return match.loop.emitOpError("expected 'tile.attend_result' to read the "
                                  "attend state, value #")
           << match.carried;
  }
  auto result = dyn_cast<tile::AttendResultOp>(
      match.resultStep.getBody().front().front());
  if (!result) {
    return match.resultStep.emitOpError("expected 'tile.attend_result' in the "
                                        "step that reads the attend state");
  }
  return stepOf(result, 1);
}

/// Shapes: scores M x N, values N x D, state M x D.
static LogicalResult checkTypes(Match &match, tile::KernelOp kernel) {
  auto s = cast<RankedTensorType>(match.scores.getType());
  auto v = cast<RankedTensorType>(match.values.getType());
  auto o = cast<RankedTensorType>(match.state.getType());
  if (!s.hasStaticShape() || !v.hasStaticShape() || !o.hasStaticShape() ||
      s.getRank() != 2 || v.getRank() != 2 || o.getRank() != 2 ||
      s.getDimSize(1) != v.getDimSize(0) ||
      o.getDimSize(0) != s.getDimSize(0) ||
      o.getDimSize(1) != v.getDimSize(1) || !s.getElementType().isF32() ||
      !o.getElementType().isF32()) {
    return match.attend.emitOpError("expected scores of MxNxf32, values of "
                                    "NxD and a state of MxDxf32, got ")
           << s << ", " << v << " and " << o;
  }
  Operation *result = &match.resultStep.getBody().front().front();
  auto row = RankedTensorType::get({s.getDimSize(0)}, s.getElementType());
  if (result->getResult(0).getType() != o ||
      result->getResult(1).getType() != row) {
    return result->emitOpError("expected results of ")
           << o << " and " << row << ", got " << result->getResult(0).getType()
           << " and " << result->getResult(1).getType();
  }
  Region *region = match.attend.getScale().getParentRegion();
  if (region != &kernel.getBody()) {
    return match.attend.emitOpError("expected 'scale' to be a value of the "
                                    "kernel, outside 'tile.work'");
  }
  return success();
}

static FailureOr<Match> matchSoftmax(tile::AttendOp attend,
                                     tile::KernelOp kernel) {
  Match match;
  match.attend = attend;
  auto step = stepOf(attend, 3);
  if (failed(step)) {
    return failure();
  }
  match.attendStep = *step;
  match.loop = dyn_cast<tile::ForOp>((*step)->getParentOp());
  if (!match.loop) {
    return attend.emitOpError("expected step @")
           << step->getName() << " to be in a 'tile.for', got '"
           << (*step)->getParentOp()->getName() << "'";
  }
  if (!isa<tile::WorkOp>(match.loop->getParentOp())) {
    return match.loop.emitOpError("expected to be in a 'tile.work', got '")
           << match.loop->getParentOp()->getName() << "'";
  }
  match.scores = step->getOperand(0);
  match.values = step->getOperand(1);
  for (auto first : match.loop->getParentOp()->getRegion(0).getOps<tile::StepOp>()) {
    if (!first.getBody().getOps<tile::NextWorkOp>().empty()) {
      match.work = first.getResult(0);
    }
  }
  match.state = step->getOperand(2);
  if (failed(matchState(match)) || failed(matchResult(match)) ||
      failed(checkTypes(match, kernel))) {
    return failure();
  }
  return match;
}

/// Ensures: nothing abstract is left.
static LogicalResult verifyFused(tile::KernelOp kernel) {
  auto result = kernel.walk([](Operation *op) {
    if (isa<tile::AttendOp, tile::AttendResultOp>(op)) {
      op->emitOpError("attn-fuse-online-softmax: expected no abstract softmax "
                      "in the kernel");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult fuse(tile::KernelOp kernel) {
  SmallVector<tile::AttendOp> attends;
  kernel.walk([&](tile::AttendOp op) { attends.push_back(op); });
  if (attends.empty()) {
    return verifyFused(kernel);
  }
  if (attends.size() > 1) {
    return attends[1].emitOpError("expected one 'tile.attend' in the kernel, "
                                  "got ")
           << attends.size();
  }
  if (!kernel.getConfig()) {
    return kernel.emitOpError("expected a 'config'");
  }
  auto match = matchSoftmax(attends[0], kernel);
  if (failed(match)) {
    return failure();
  }
  remark::passed(kernel.getLoc(),
                 remark::RemarkOpts::name("fuse-online-softmax")
                     .category("attn")
                     .function(kernel.getSymName()))
      << remark::metric("RescaleThreshold",
                        kernel.getConfig()->getRescaleThreshold());
  SoftmaxWriter(kernel, *match).write();
  return verifyFused(kernel);
}

namespace {
struct FuseOnlineSoftmaxPass
    : public attn::impl::FuseOnlineSoftmaxBase<FuseOnlineSoftmaxPass> {
  using FuseOnlineSoftmaxBase::FuseOnlineSoftmaxBase;

  void runOnOperation() override {
    if (failed(fuse(getOperation()))) {
      signalPassFailure();
    }
  }
};
} // namespace
