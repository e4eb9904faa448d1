// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-differentiate: writes, for each function with an attn.attention, the
// function of its gradients.
#include "../KernelFunction.h"
#include "CaptureGradient.h"
#include "SlopeWriter.h"
#include "attn/dialect/RegionProgram.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Requires: the masks and functions are those of the user.
static LogicalResult checkStage(AttentionOp op) {
  if (op.getConfig()) {
    return op.emitOpError("attn-differentiate: expected no 'config', which "
                          "attn-configure attaches after this pass");
  }
  if (op.hasRowKeys() || op->hasAttr(kUserMaskAttr)) {
    return op.emitOpError("attn-differentiate: expected the mask of the user, "
                          "which attn-infer-mask changes after this pass");
  }
  return success();
}

/// Whether the gradient of an argument of the function is asked for.
static bool isAsked(func::FuncOp func, Value argument) {
  unsigned number = cast<BlockArgument>(argument).getArgNumber();
  return bool(func.getArgAttr(number, kGradientAttr));
}

/// Returns the scale and the captures whose gradients are asked for, in the
/// order of the function's arguments.
static SmallVector<Value> askedCaptures(func::FuncOp func, AttentionOp op) {
  SmallVector<Value> asked;
  for (BlockArgument argument : func.getArguments()) {
    if (isAsked(func, argument) &&
        !llvm::is_contained({op.getQuery(), op.getKey(), op.getValue()},
                            argument)) {
      asked.push_back(argument);
    }
  }
  return asked;
}

static bool isMarked(func::FuncOp func) {
  return llvm::any_of(func.getArguments(), [&](BlockArgument argument) {
    return isAsked(func, argument);
  });
}

namespace {

/// Writes the function of the gradients after that of an attention.
class GradientWriter {
public:
  GradientWriter(func::FuncOp func, AttentionOp attention)
      : b(func->getContext()), loc(attention.getLoc()), func(func),
        attention(attention) {
    for (Value of :
         {attention.getQuery(), attention.getKey(), attention.getValue()}) {
      asked.push_back(!isMarked(func) || isAsked(func, of));
    }
    captures = askedCaptures(func, attention);
  }

  LogicalResult write(StringRef name);

private:
  func::FuncOp createFunction(StringRef name);
  AttentionBwdOp createGradients(DeltaOp delta, Value outGradient);
  Value mapped(Value value) { return value ? map.lookup(value) : Value(); }
  /// Returns those elements that belong to the gradients of Q, K and V that are
  /// asked for.
  template <typename T> SmallVector<T> askedOf(SmallVector<T> all) {
    SmallVector<T> some;
    for (auto [each, wanted] : llvm::zip_equal(all, asked)) {
      if (wanted) {
        some.push_back(each);
      }
    }
    return some;
  }

  OpBuilder b;
  Location loc;
  func::FuncOp func;
  AttentionOp attention;
  IRMapping map;               // from the first function
  SmallVector<bool> asked;     // of Q, K and V
  SmallVector<Value> captures; // whose gradients are asked for
};

} // namespace

/// Creates the function. Its arguments are those of the first one without the
/// sinks, whose effect is in the LSE, if their gradient is not asked for, and
/// then O, LSE, dO and dLSE.
func::FuncOp GradientWriter::createFunction(StringRef name) {
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : func.getArguments()) {
    bool isUnread = argument == attention.getSinks() && argument.hasOneUse() &&
                    !llvm::is_contained(captures, argument);
    if (!isUnread) {
      arguments.push_back(argument);
    }
  }
  SmallVector<Type> inputs(ValueRange(arguments).getTypes());
  for (int n = 0; n < 2; ++n) {
    llvm::append_range(inputs, attention->getResultTypes());
  }
  b.setInsertionPointAfter(func);
  SmallVector<Type> results{attention.getQuery().getType(),
                            attention.getKey().getType(),
                            attention.getValue().getType()};
  results = askedOf(results);
  for (Value capture : captures) {
    results.push_back(typeOfGradient(capture));
  }
  auto result = func::FuncOp::create(b, func.getLoc(), name,
                                     b.getFunctionType(inputs, results));
  if (Attribute anyOrder = func->getAttr(kAnyOrderAttr)) {
    result->setAttr(kAnyOrderAttr, anyOrder);
  }
  Block *entry = result.addEntryBlock();
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    map.map(argument, entry->getArgument(unsigned(number)));
    result.setArgAttrs(unsigned(number),
                       func.getArgAttrDict(argument.getArgNumber()));
  }
  b.setInsertionPointToStart(entry);
  for (auto constant : func.getBody().getOps<arith::ConstantOp>()) {
    b.clone(*constant, map);
  }
  return result;
}

LogicalResult GradientWriter::write(StringRef name) {
  func::FuncOp result = createFunction(name);
  ValueRange ofResults = result.getArguments().take_back(4);
  Value out = ofResults[0], lse = ofResults[1], outGradient = ofResults[2],
        lseGradient = ofResults[3];
  RankedTensorType ofLse = attention.getLse().getType();
  auto rows = RankedTensorType::get(
      {ofLse.getDimSize(0), ofLse.getDimSize(1), ShapedType::kDynamic},
      ofLse.getElementType());
  auto delta = DeltaOp::create(
      b, loc, rows, rows, /*sums=*/Type(), /*turns=*/Type(), out, outGradient,
      lse, lseGradient, attention.getLayout(), ConfigAttr());
  AttentionBwdOp gradients = createGradients(delta, outGradient);
  SmallVector<Value> results =
      askedOf(SmallVector<Value>(gradients.getResults()));
  for (Value capture : captures) {
    CaptureGradient writer(func, attention, capture);
    FailureOr<Value> gradient =
        capture == attention.getSinks()
            ? writer.writeOfSinks(gradients, mapped(capture))
            : writer.write(gradients);
    if (failed(gradient)) {
      return failure();
    }
    results.push_back(*gradient);
  }
  func::ReturnOp::create(b, loc, results);
  Region &score = gradients.getScoreRegion();
  return attention.hasScoreRegion()
             ? SlopeWriter(score, {score.getArgument(0)}).run()
             : success();
}

/// Creates the op of the gradients of Q, K and V. Its score region does not
/// yield a derivative yet.
AttentionBwdOp GradientWriter::createGradients(DeltaOp delta,
                                               Value outGradient) {
  auto all = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return mapped(v); });
  };
  auto gradients = AttentionBwdOp::create(
      b, loc, mapped(attention.getQuery()), mapped(attention.getKey()),
      mapped(attention.getValue()), outGradient, delta.getLse2(),
      delta.getDelta(), /*sums=*/Value(), /*turns=*/Value(),
      /*seeing=*/Value(), mapped(attention.getScale()),
      all(attention.getBounds()), mapped(attention.getDropoutRate()),
      mapped(attention.getDropoutState()), all(attention.getCaptures()),
      attention.getMask(), attention.getLayout(), attention.getBoundKinds(),
      Gradients::All, IntegerAttr(), AffineMapAttr(), IntegerAttr(),
      IntegerAttr(), IntegerAttr(), ConfigAttr());
  IRMapping ofRegions;
  attention.getMaskRegion().cloneInto(&gradients.getMaskRegion(), ofRegions);
  attention.getScoreRegion().cloneInto(&gradients.getScoreRegion(), ofRegions);
  return gradients;
}

/// Requires another gradient beside that of the sinks. Without one, no launch
/// would read Q, K and V, which are arguments of the call.
static LogicalResult checkSinks(func::FuncOp func, AttentionOp attention) {
  Value sinks = attention.getSinks();
  bool isAlone = sinks && isMarked(func) &&
                 llvm::all_of(func.getArguments(), [&](BlockArgument argument) {
                   return argument == sinks || !isAsked(func, argument);
                 });
  if (!isAlone) {
    return success();
  }
  return func.emitOpError("attn-differentiate: expected '")
         << kGradientAttr
         << "' on another argument beside the sinks, got it on argument #"
         << cast<BlockArgument>(sinks).getArgNumber() << " alone";
}

static LogicalResult differentiate(func::FuncOp func, AttentionOp attention) {
  if (failed(checkKernelFunction(func, attention)) ||
      failed(checkStage(attention)) || failed(checkSinks(func, attention))) {
    return failure();
  }
  for (Value capture : askedCaptures(func, attention)) {
    if (failed(CaptureGradient(func, attention, capture).check())) {
      return failure();
    }
  }
  std::string name = (func.getName() + "_bwd").str();
  if (SymbolTable::lookupSymbolIn(func->getParentOp(), name)) {
    return func.emitOpError("attn-differentiate: expected no symbol '@")
           << name << "', the name for the function of its gradients";
  }
  return GradientWriter(func, attention).write(name);
}

namespace {
struct DifferentiatePass
    : public attn::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    SmallVector<AttentionOp> attentions;
    getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
    for (AttentionOp attention : attentions) {
      auto func = dyn_cast<func::FuncOp>(attention->getParentOp());
      if (marked && (!func || !isMarked(func))) {
        continue;
      }
      if (!func) {
        attention.emitOpError("attn-differentiate: expected to be in a "
                              "'func.func', got '")
            << attention->getParentOp()->getName() << "'";
        return signalPassFailure();
      }
      if (failed(differentiate(func, attention))) {
        return signalPassFailure();
      }
      if (marked) {
        func.erase();
      }
    }
  }
};
} // namespace
