// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-infer-mask: finds the built-in masks, and the keys of each row, in mask
// regions.
#include "../ArgumentNames.h"
#include "BuiltInMatch.h"
#include "MaskText.h"
#include "RowKeysWriter.h"
#include "attn/dialect/Masks.h"
#include "attn/dialect/RegionProgram.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_INFERMASK
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// The result for one mask region.
struct Findings {
  KeyInterval interval = KeyInterval::all();
  SmallVector<Value> staying; // factors that the interval does not express
};

/// Of an attn.attention or of its gradients.
template <typename Op> class MaskInference {
public:
  /// `names` are those of the captures.
  MaskInference(Op op, ArrayRef<std::string> names)
      : op(op), names(names), facts(op.getMaskRegion()), sums(facts) {}

  /// Rewrites the op; returns false if nothing was found.
  /// With `builtInOnly`, only to a built-in mask without a bound.
  bool run(bool builtInOnly);

private:
  bool isBuiltIn();
  void readFactors();
  void readFactor(Value factor);
  void useBuiltIn(const BuiltInMatch &match);
  void keepStaying();
  void say(StringRef found);

  Op op;
  ArrayRef<std::string> names;
  RegionFacts facts;
  SumMaker sums;
  Findings found;
  SmallVector<std::string> obstacles;
};

} // namespace

static remark::RemarkOpts remarkOpts() {
  return remark::RemarkOpts::name("infer-mask").category("attn");
}

/// Whether kernels can skip blocks of keys by the interval. With a prefix, the
/// first and the last row of a tile must be enough to bound its blocks.
static bool isUsable(const KeyInterval &interval, const SumMaker &sums) {
  return interval.isExact &&
         (!interval.hasPrefix() || interval.isOrdered(sums));
}

/// Intersects the interval found so far with that of a factor, if the result is
/// an interval. The factor stays in the region unless the interval expresses
/// all of it.
template <typename Op> void MaskInference<Op>::readFactor(Value factor) {
  FormulaReader reader(facts, sums);
  KeyInterval interval = intervalOf(reader.read(factor), sums);
  bool isWhole = interval.isExact;
  interval.isExact = true;
  KeyInterval both = intersect(found.interval, interval);
  bool isUsed = isUsable(both, sums);
  if (isUsed) {
    found.interval = both;
  }
  if (!isWhole || !isUsed) {
    found.staying.push_back(factor);
    Operation *obstacle = reader.getObstacle();
    obstacles.push_back(obstacle ? obstacle->getName().getStringRef().str()
                                 : "alternatives of several intervals");
  }
}

/// The factors are the operands of the `and` whose result the region yields.
template <typename Op> void MaskInference<Op>::readFactors() {
  SmallVector<Value> left{
      op.getMaskRegion().front().getTerminator()->getOperand(0)};
  while (!left.empty()) {
    Value factor = left.pop_back_val();
    if (auto both = factor.getDefiningOp<arith::AndIOp>()) {
      left.push_back(both.getRhs());
      left.push_back(both.getLhs());
    } else {
      readFactor(factor);
    }
  }
}

template <typename Op>
void MaskInference<Op>::useBuiltIn(const BuiltInMatch &match) {
  OpBuilder builder(op);
  SmallVector<Value> bounds;
  for (int64_t value : match.values) {
    bounds.push_back(arith::ConstantOp::create(
        builder, op.getLoc(), builder.getI32IntegerAttr(value)));
  }
  op.setMask(match.mask);
  op.setBoundKinds(match.bounds);
  op.getBoundsMutable().assign(bounds);
}

/// Keeps only the factors that stay in the region; removes its block if there
/// are none.
template <typename Op> void MaskInference<Op>::keepStaying() {
  Region &region = op.getMaskRegion();
  if (found.staying.empty()) {
    region.front().dropAllReferences();
    region.getBlocks().clear();
    return;
  }
  Operation *yield = region.front().getTerminator();
  OpBuilder builder(yield);
  Value all = found.staying.front();
  for (Value factor : llvm::drop_begin(found.staying)) {
    all = arith::AndIOp::create(builder, op.getLoc(), all, factor);
  }
  yield->setOperand(0, all);
}

template <typename Op> void MaskInference<Op>::say(StringRef what) {
  remark::passed(op.getLoc(), remarkOpts())
      << remark::metric("Mask", what)
      << remark::metric("Staying", llvm::join(obstacles, ", "));
}

/// Returns text like "causal_top_left, window_left(1023)".
static std::string describe(const BuiltInMatch &match) {
  std::string text = stringifyMaskKind(match.mask).str();
  auto bounds = maskBounds(match.bounds);
  for (auto [bound, value] : llvm::zip_equal(bounds, match.values)) {
    text += llvm::formatv(", {0}({1})", bound.name, value);
  }
  return text;
}

/// Whether the region is a built-in mask without a bound, and nothing else.
template <typename Op> bool MaskInference<Op>::isBuiltIn() {
  auto match = matchBuiltInMask(found.interval, facts);
  return match && match->values.empty() && found.staying.empty();
}

template <typename Op> bool MaskInference<Op>::run(bool builtInOnly) {
  readFactors();
  if (builtInOnly && !isBuiltIn()) {
    return false;
  }
  if (found.interval.isAll() && !found.staying.empty()) {
    remark::missed(op.getLoc(), remarkOpts())
        << remark::metric("Staying", llvm::join(obstacles, ", "));
    return false;
  }
  if (auto match = matchBuiltInMask(found.interval, facts)) {
    useBuiltIn(*match);
    say(describe(*match));
  } else {
    writeRowKeys(op.getRowKeys(), op.getMaskRegion(), found.interval, facts,
                 sums);
    say("row_keys, " + describe(found.interval, op.getMaskRegion(), names));
  }
  keepStaying();
  return true;
}

/// Whether the pass reads the op's mask. attn-tile refuses captures that are no
/// arguments.
template <typename Op> static bool isCandidate(Op op) {
  return op.hasMaskRegion() && !op.hasRowKeys() &&
         op.getMask() == MaskKind::None &&
         llvm::all_of(op.getCaptures(), [](Value capture) {
           return isa<BlockArgument>(capture);
         });
}

static void simplify(Operation *op) {
  IRRewriter rewriter(op->getContext());
  DominanceInfo dominance(op);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  (void)runRegionDCE(rewriter, op->getRegions());
}

/// Works on a copy, which replaces the op if something was found.
template <typename Op> static LogicalResult inferMask(Op op, bool builtInOnly) {
  auto func = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!func || !isCandidate(op)) {
    return success();
  }
  FailureOr<ArgumentNames> names = ArgumentNames::of(func, op.getCaptures());
  if (failed(names)) {
    return failure();
  }
  auto captureNames = llvm::map_to_vector(
      names->captures(), [](const ArgumentName &own) { return own.name; });
  DictionaryAttr programs = describeRegions(op, captureNames);
  OpBuilder builder(op);
  auto copy = cast<Op>(builder.clone(*op));
  simplify(copy);
  if (!MaskInference<Op>(copy, captureNames).run(builtInOnly)) {
    copy.erase();
    return success();
  }
  copy->setAttr(kUserProblemAttr, op.getProblem());
  copy->setAttr(kUserMaskAttr, programs.get("mask"));
  simplify(copy);
  op->replaceAllUsesWith(copy->getResults());
  op.erase();
  return success();
}

namespace {
struct InferMaskPass : public attn::impl::InferMaskBase<InferMaskPass> {
  using InferMaskBase::InferMaskBase;

  void runOnOperation() override {
    SmallVector<Operation *> attentions;
    getOperation().walk([&](Operation *op) {
      if (isa<AttentionOp, AttentionBwdOp>(op)) {
        attentions.push_back(op);
      }
    });
    for (Operation *op : attentions) {
      auto gradients = dyn_cast<AttentionBwdOp>(op);
      if (failed(gradients ? inferMask(gradients, builtInOnly)
                           : inferMask(cast<AttentionOp>(op), builtInOnly))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
