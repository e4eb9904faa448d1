// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-split-backward: splits an attn.attention_bwd until the table has a
// schedule for each part. If dQ may be summed in any order, it replaces an op
// for all gradients by one that adds its shares of dQ to sums in memory, and
// computes dK and dV, or dK with another op for dV; otherwise by one that adds
// them in turns. Ops that own keys get the queries that may see them, if the
// mask reads tensors at queries.
#include "../KernelFunction.h"
#include "BackwardWriter.h"
#include "attn/dialect/Attn.h"
#include "attn/dialect/RegionProgram.h"
#include "attn/dialect/ScoreOps.h"
#include "attn/passes/kernels/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Returns a copy of `op` that computes `gradients`.
static AttentionBwdOp copyFor(AttentionBwdOp op, Gradients gradients,
                              Value sums, Value turns, IntegerAttr newSums = {},
                              IntegerAttr queries = {}) {
  OpBuilder builder(op);
  auto copy = AttentionBwdOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getOutGradient(), op.getLse2(), op.getDelta(), sums, turns,
      op.getSeeing(), op.getScale(), op.getBounds(), op.getDropoutRate(),
      op.getDropoutState(), op.getCaptures(), op.getMask(), op.getLayout(),
      op.getBoundKinds(), gradients, IntegerAttr(), AffineMapAttr(),
      IntegerAttr(), newSums, queries, ConfigAttr());
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (auto users = copy.getUserProblem(copy.getProblem().getKind())) {
    copy->setAttr(kUserProblemAttr, users);
  }
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&copy.getScoreRegion(), mapping);
  op.getMaskRegion().cloneInto(&copy.getMaskRegion(), mapping);
  op.getRowKeys().cloneInto(&copy.getRowKeys(), mapping);
  return copy;
}

namespace {
/// A kernel that adds to sums of dQ in memory: its gradients, whether it adds
/// in turns, the columns of its tiles of Q, which the sums have, too, and the
/// queries of a block if it adds transposed shares.
struct SumsKernel {
  Gradients gradients;
  bool inTurns;
  int64_t columns;
  bool transposed;
  bool storesFirst; // shares of blocks of queries, which need no zeros then
  int64_t queries;  // of a block
};
} // namespace

/// Writes the zeros to which `op` adds, of these types, or null for none, and
/// returns them. The op of its statistics makes them, if it is in the function
/// and has neither a config nor other zeros.
static std::pair<Value, Value>
writeZeros(AttentionBwdOp op, RankedTensorType sums, RankedTensorType turns) {
  OpBuilder builder(op);
  auto delta = op.getDelta().getDefiningOp<DeltaOp>();
  if (!delta || delta.getLse2() != op.getLse2() || delta.getSums() ||
      delta.getTurns() || delta.getConfig()) {
    auto clear = ClearSumsOp::create(builder, op.getLoc(), sums, turns,
                                     op.getQuery().getType().getElementType(),
                                     ConfigAttr());
    return {clear.getSums(), clear.getTurns()};
  }
  builder.setInsertionPoint(delta);
  auto both =
      DeltaOp::create(builder, delta.getLoc(), delta.getDelta().getType(),
                      delta.getLse2().getType(), sums, turns, delta.getOut(),
                      delta.getOutGradient(), delta.getLse(),
                      delta.getLseGradient(), delta.getLayout(), ConfigAttr());
  both->setDiscardableAttrs(delta->getDiscardableAttrDictionary());
  delta.getDelta().replaceAllUsesWith(both.getDelta());
  delta.getLse2().replaceAllUsesWith(both.getLse2());
  delta.erase();
  return {both.getSums(), both.getTurns()};
}

/// Replaces `op` by one that adds to sums of dQ in memory. If dV is not among
/// its gradients, another op computes it. Turns give the additions one order.
static void replaceBySums(AttentionBwdOp op, SumsKernel kernel) {
  OpBuilder builder(op);
  auto rows = cast<RankedTensorType>(op.getLse2().getType());
  auto type = RankedTensorType::get({rows.getDimSize(0), rows.getDimSize(1),
                                     rows.getDimSize(2), kernel.columns},
                                    builder.getF32Type());
  RankedTensorType typeOfTurns;
  IntegerAttr newSums, queries;
  if (kernel.inTurns) {
    typeOfTurns = rows.clone(builder.getI32Type());
  }
  if (kernel.storesFirst) {
    type = {};
    newSums = builder.getI64IntegerAttr(kernel.columns);
    queries = builder.getI64IntegerAttr(kernel.queries);
  }
  auto [sums, turns] = writeZeros(op, type, typeOfTurns);
  AttentionBwdOp withSums =
      copyFor(op, kernel.gradients, sums, turns, newSums, queries);
  if (kernel.transposed) {
    withSums.setTransposed(kernel.queries);
  }
  Value dv = kernel.gradients == Gradients::Sums
                 ? withSums.getResult(2)
                 : copyFor(op, Gradients::DV, Value(), Value()).getResult(0);
  Value dq = ConvertSumsOp::create(
      builder, op.getLoc(), op.getQuery().getType(), withSums.getResult(0),
      kernel.storesFirst ? turns : Value(), op.getScale(), op.getLayout(),
      withSums.getTransposedAttr(), queries, ConfigAttr());
  op.getResult(0).replaceAllUsesWith(dq);
  op.getResult(1).replaceAllUsesWith(withSums.getResult(1));
  op.getResult(2).replaceAllUsesWith(dv);
  op.erase();
}

/// Whether a kernel with this config stores the first share of each block of
/// queries. Functions and dropout need the registers, and perhaps a kernel of
/// another rung.
static bool storesFirst(AttentionBwdOp op, ConfigAttr config) {
  bool isPlain = !op.hasScoreRegion() && !op.hasMaskRegion() &&
                 !op.hasRowKeys() && !op.hasDropout();
  return isPlain && config.getFirstShare() == FirstShare::Stored;
}

/// Whether the additions to sums of dQ must have one order.
static bool isInTurns(AttentionBwdOp op) {
  auto func = op->getParentOfType<func::FuncOp>();
  return func && !func->hasAttr(kAnyOrderAttr);
}

namespace {
/// What a kernel with sums of dQ may compute, and whether it adds in turns.
struct SumsKind {
  Gradients gradients;
  bool inTurns;
};
} // namespace

/// Returns the kinds of kernels with sums of dQ that an op may become, in the
/// order of preference. Kernels with turns compute all gradients. One order is
/// one of any: a schedule of the user may give it to ops that need none.
static SmallVector<SumsKind> kindsOf(AttentionBwdOp op, bool hasFile) {
  constexpr SumsKind ordered = {Gradients::Sums, /*inTurns=*/true};
  if (isInTurns(op)) {
    return {ordered};
  }
  SmallVector<SumsKind> kinds = {{Gradients::Sums, false}};
  if (hasFile) {
    kinds.push_back(ordered);
  }
  kinds.push_back({Gradients::SumsDK, false});
  return kinds;
}

/// Returns the two parts of several gradients, or nothing for a single one.
static ArrayRef<Gradients> halvesOf(Gradients gradients) {
  static constexpr Gradients ofAll[] = {Gradients::DQ, Gradients::DKDV};
  static constexpr Gradients ofKeys[] = {Gradients::DK, Gradients::DV};
  switch (gradients) {
  case Gradients::All:
    return ofAll;
  case Gradients::DKDV:
    return ofKeys;
  default:
    return {};
  }
}

/// Whether a mask region reads a tensor at the query, wherever the key is.
static bool readsAtQuery(Region &mask) {
  return llvm::any_of(mask.getOps<tensor::ExtractOp>(), [&](auto extract) {
    auto dependsOnArgument = [&](unsigned number) {
      return llvm::any_of(extract.getIndices(), [&](Value index) {
        return dependsOn(index, mask.getArgument(number));
      });
    };
    return dependsOnArgument(2) && !dependsOnArgument(3);
  });
}

/// Whether an op owns keys, and a tensor says which queries see them.
static bool canSkipQueries(AttentionBwdOp op) {
  return op.makesKeyGradients() && !op.getConfig() && !op.getSeeing() &&
         !op.hasRowKeys() && !op.hasMaskOfHeads() &&
         readsAtQuery(op.getMaskRegion());
}

static bool haveOneMask(AttentionBwdOp a, AttentionBwdOp b) {
  return a.getMask() == b.getMask() && a.getQuery() == b.getQuery() &&
         a.getKey() == b.getKey() && a.getLayout() == b.getLayout() &&
         a.getBounds() == b.getBounds() &&
         a.getBoundKinds() == b.getBoundKinds() &&
         a.getCaptures() == b.getCaptures() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getMaskRegion(), &b.getMaskRegion(),
             OperationEquivalence::IgnoreLocations);
}

/// Requires a score region that reads the score, if a gradient of Q, K or V is
/// used: their kernels have no form without the product of Q and K.
static LogicalResult checkScores(AttentionBwdOp op) {
  if (op.isOfCapture() || !op.hasScoreRegion() || op->use_empty()) {
    return success();
  }
  Region &region = op.getScoreRegion();
  if (dependsOn(region.front().getTerminator()->getOperand(0),
                region.getArgument(0))) {
    return success();
  }
  return op.emitOpError("expected a score region that reads the score, for the "
                        "gradients of 'q', 'k' and 'v', got one without it");
}

/// Writes the op that finds the queries that may see the keys of `op`, before
/// it, and returns its result.
static Value writeSeeing(AttentionBwdOp op) {
  OpBuilder builder(op);
  auto seeing = AttentionBwdOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getOutGradient(), op.getLse2(), op.getDelta(), /*sums=*/Value(),
      /*turns=*/Value(), /*seeing=*/Value(), op.getScale(), op.getBounds(),
      /*dropout_rate=*/Value(), /*dropout_state=*/Value(), op.getCaptures(),
      op.getMask(), op.getLayout(), op.getBoundKinds(), Gradients::Seeing,
      IntegerAttr(), AffineMapAttr(), IntegerAttr(), IntegerAttr(),
      IntegerAttr(), ConfigAttr());
  IRMapping mapping;
  op.getMaskRegion().cloneInto(&seeing.getMaskRegion(), mapping);
  return seeing.getResult(0);
}

namespace {
struct SplitBackwardPass
    : public attn::impl::SplitBackwardBase<SplitBackwardPass> {
  using SplitBackwardBase::SplitBackwardBase;

  FailureOr<bool> hasEntry(AttentionBwdOp op, ProblemAttr problem) {
    return hasTableEntry(op.getContext(), problem, target, scheduleFile,
                         [&] { return op.emitOpError(); });
  }

  /// Returns the config of the kernel of `problem`.
  FailureOr<ConfigAttr> configOf(AttentionBwdOp op, ProblemAttr problem) {
    auto entries =
        lookupTableEntries(op.getContext(), problem, target, scheduleFile,
                           /*firstRung=*/0, [&] { return op.emitOpError(); });
    if (failed(entries)) {
      return failure();
    }
    return entries->front().config;
  }

  /// Whether only a schedule of the user gives `op` a kernel with sums of dQ.
  /// Under a mask function, items that run at the same time may have to add to
  /// the same few blocks of queries, one after the other, and a kernel with
  /// turns does not look up `seeing`. With dropout, P and the derivative of a
  /// score function both need registers until dP is there.
  bool needsOwnSchedule(AttentionBwdOp op) {
    bool mayWaitLong = isInTurns(op) && op.hasMaskRegion();
    bool keepsSlope =
        op.hasDropout() && op.hasScoreRegion() && !hasSlopeOne(op);
    return scheduleFile.empty() && (mayWaitLong || keepsSlope);
  }

  /// Returns the kernel with sums of dQ, or nothing if there is to be none.
  FailureOr<std::optional<SumsKernel>> chooseSums(AttentionBwdOp op) {
    if (!op->getParentOfType<func::FuncOp>() || needsOwnSchedule(op) ||
        llvm::any_of(op.getResults(),
                     [](Value result) { return result.use_empty(); })) {
      return std::optional<SumsKernel>();
    }
    for (auto [gradients, inTurns] : kindsOf(op, !scheduleFile.empty())) {
      ProblemAttr problem = op.getProblem(gradients, inTurns);
      FailureOr<bool> has = hasEntry(op, problem);
      if (failed(has)) {
        return failure();
      }
      if (!*has) {
        continue;
      }
      FailureOr<ConfigAttr> config = configOf(op, problem);
      if (failed(config)) {
        return failure();
      }
      int64_t columns = config->getTileD(), queries = config->getTileN();
      return std::optional(
          SumsKernel{gradients, inTurns, columns ? columns : op.getHeadDim(),
                     transposesShares(*config),
                     inTurns && storesFirst(op, *config), queries});
    }
    return std::optional<SumsKernel>();
  }

  /// Replaces an op by one with sums of dQ, if possible, and returns whether it
  /// did.
  FailureOr<bool> splitWithSums(AttentionBwdOp op) {
    FailureOr<std::optional<SumsKernel>> kernel = chooseSums(op);
    if (failed(kernel)) {
      return failure();
    }
    if (*kernel) {
      replaceBySums(op, **kernel);
    }
    return kernel->has_value();
  }

  /// Splits an op until the table has a schedule for each part. A single
  /// gradient without one is left to attn-configure, which says so.
  LogicalResult split(AttentionBwdOp op) {
    ArrayRef<Gradients> halves = halvesOf(op.getGradients());
    if (halves.empty() || op.getConfig()) {
      return success();
    }
    bool isAll = op.getGradients() == Gradients::All;
    FailureOr<bool> isDone =
        isAll ? splitWithSums(op) : hasEntry(op, op.getProblem());
    if (failed(isDone) || *isDone) {
      return isDone;
    }
    unsigned middle = gradientRange(halves[0]).second;
    ResultRange parts[] = {op.getResults().take_front(middle),
                           op.getResults().drop_front(middle)};
    for (auto [half, results] : llvm::zip_equal(halves, parts)) {
      if (results.use_empty()) {
        continue;
      }
      AttentionBwdOp part = copyFor(op, half, Value(), Value());
      results.replaceAllUsesWith(part.getResults());
      if (failed(split(part))) {
        return failure();
      }
    }
    op.erase();
    return success();
  }

  /// Writes one op of `seeing` for all ops of a function that own keys.
  LogicalResult addSeeing(func::FuncOp func) {
    SmallVector<AttentionBwdOp> ops;
    func.walk([&](AttentionBwdOp op) {
      if (canSkipQueries(op) && !op.getTurns() &&
          (ops.empty() || haveOneMask(op, ops[0]))) {
        ops.push_back(op);
      }
    });
    if (ops.empty()) {
      return success();
    }
    FailureOr<bool> has = hasEntry(
        ops[0], ops[0].getProblem(Gradients::Seeing, /*inTurns=*/false));
    if (failed(has) || !*has) {
      return has;
    }
    Value seeing = writeSeeing(ops[0]);
    for (AttentionBwdOp op : ops) {
      op.getSeeingMutable().assign(seeing);
    }
    return success();
  }

  void runOnOperation() override {
    SmallVector<AttentionBwdOp> ops;
    getOperation().walk([&](AttentionBwdOp op) { ops.push_back(op); });
    if (llvm::any_of(ops, [&](AttentionBwdOp op) {
          return failed(checkScores(op)) || failed(split(op));
        })) {
      return signalPassFailure();
    }
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (failed(addSeeing(func))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
