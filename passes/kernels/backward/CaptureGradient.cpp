// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CaptureGradient.h"
#include "../ArgumentNames.h"
#include "SlopeWriter.h"
#include "attn/dialect/ScoreOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

namespace {
/// The arguments of a score region before the captures, and the dimensions of
/// maps of indices, which begin with b.
enum RegionArgument : unsigned { Score, Batch, Head, Query, Key, Captures };
constexpr unsigned positions = 4;
constexpr unsigned dimOf(RegionArgument position) { return position - Batch; }
} // namespace

RankedTensorType attn::typeOfGradient(Value capture) {
  auto tensor = dyn_cast<RankedTensorType>(capture.getType());
  return tensor ? tensor : RankedTensorType::get({1}, capture.getType());
}

InFlightDiagnostic CaptureGradient::error() {
  InFlightDiagnostic error =
      func.emitOpError("attn-differentiate: no lowering for the gradient of "
                       "argument #")
      << argument.getArgNumber();
  if (auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    "attn.name")) {
    error << ", " << name;
  }
  error << ": ";
  return error;
}

IntegerAttr CaptureGradient::number() {
  if (isScale()) {
    return {};
  }
  SmallVector<Value> captures = attention.getCaptures();
  int64_t index = llvm::find(captures, argument) - captures.begin();
  return Builder(func.getContext()).getI64IntegerAttr(index);
}

SmallVector<Value> CaptureGradient::sourcesIn(Region &region) {
  if (isScale()) {
    return {region.getArgument(Score)};
  }
  Value formal = region.getArgument(unsigned(Captures + number().getInt()));
  if (!isa<RankedTensorType>(formal.getType())) {
    return {formal};
  }
  SmallVector<Value> sources;
  for (auto extract : region.getOps<tensor::ExtractOp>()) {
    if (extract.getTensor() == formal) {
      sources.push_back(extract);
    }
  }
  return sources;
}

/// Returns the index as a position of the pair or 0, or null if it is neither.
static AffineExpr toExpression(Value index) {
  while (isa_and_present<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(
      index.getDefiningOp())) {
    index = index.getDefiningOp()->getOperand(0);
  }
  MLIRContext *context = index.getContext();
  if (matchPattern(index, m_Zero())) {
    return getAffineConstantExpr(0, context);
  }
  auto argument = dyn_cast<BlockArgument>(index);
  unsigned number = argument ? argument.getArgNumber() : 0;
  return number >= Batch && number <= Key
             ? getAffineDimExpr(number - Batch, context)
             : AffineExpr();
}

bool CaptureGradient::mayAddInAnyOrder() {
  auto given =
      func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kGradientAttr);
  return given && given == kAnyOrder;
}

/// Requires for additions in any order: the capture is of f32, and each pair
/// reads one element of it, whose indices do not depend on the score.
LogicalResult CaptureGradient::checkAnyOrder(ArrayRef<Value> sources) {
  if (!getElementTypeOrSelf(argument.getType()).isF32()) {
    return error() << "expected a capture of f32 for additions in any order, "
                      "got "
                   << argument.getType();
  }
  auto first = sources.front().getDefiningOp<tensor::ExtractOp>();
  Value score = attention.getScoreRegion().getArgument(Score);
  for (Value source : sources) {
    auto extract = source.getDefiningOp<tensor::ExtractOp>();
    if (!llvm::equal(extract.getIndices(), first.getIndices())) {
      InFlightDiagnostic diagnostic =
          error() << "expected all elements that a pair reads to have the same "
                     "indices, got others";
      diagnostic.attachNote(extract.getLoc()) << "the element is read here";
      return failure();
    }
    if (llvm::any_of(extract.getIndices(),
                     [&](Value index) { return dependsOn(index, score); })) {
      InFlightDiagnostic diagnostic =
          error() << "expected indices that do not depend on the score";
      diagnostic.attachNote(extract.getLoc()) << "the element is read here";
      return failure();
    }
  }
  return success();
}

FailureOr<AffineMap> CaptureGradient::findIndices() {
  MLIRContext *context = func.getContext();
  auto tensor = dyn_cast<RankedTensorType>(argument.getType());
  // The gradient of a number has one element, at index 0.
  SmallVector<AffineExpr> indices(tensor ? size_t(tensor.getRank()) : 1,
                                  getAffineConstantExpr(0, context));
  SmallVector<Value> sources;
  if (tensor && attention.hasScoreRegion()) {
    sources = sourcesIn(attention.getScoreRegion());
  }
  for (auto [number, source] : llvm::enumerate(sources)) {
    auto extract = source.getDefiningOp<tensor::ExtractOp>();
    SmallVector<AffineExpr> own;
    for (Value index : extract.getIndices()) {
      AffineExpr expression = toExpression(index);
      bool isRepeated = isa_and_present<AffineDimExpr>(expression) &&
                        llvm::is_contained(own, expression);
      own.push_back(isRepeated ? AffineExpr() : expression);
    }
    bool areKnown = llvm::all_of(own, [](AffineExpr each) { return each; });
    if (areKnown && (number == 0 || own == indices)) {
      indices = own;
      continue;
    }
    if (mayAddInAnyOrder()) {
      return failed(checkAnyOrder(sources)) ? FailureOr<AffineMap>(failure())
                                            : FailureOr<AffineMap>(AffineMap());
    }
    InFlightDiagnostic diagnostic =
        error() << (areKnown
                        ? "expected all elements that a pair reads to have the "
                          "same indices, got others"
                        : "expected each of its indices to be a position of "
                          "the pair (b, h, i or j), used once, or 0: another "
                          "index needs additions in any order, with "
                          "'attn.gradient = \"any_order\"'");
    diagnostic.attachNote(extract.getLoc()) << "the element is read here";
    return failure();
  }
  return AffineMap::get(positions, 0, indices, context);
}

LogicalResult CaptureGradient::check() {
  Attribute given = func.getArgAttr(argument.getArgNumber(), kGradientAttr);
  if (!isa<UnitAttr>(given) && !mayAddInAnyOrder()) {
    return error() << "expected '" << kGradientAttr
                   << "' without a value or with \"" << kAnyOrder << "\", got "
                   << given;
  }
  if (llvm::is_contained(attention.getBounds(), argument)) {
    return error() << "a bound of the mask is an integer";
  }
  if (argument == attention.getDropoutRate()) {
    return error() << "the rate of dropout has no gradient";
  }
  Type element = getElementTypeOrSelf(argument.getType());
  if (!element.isF32() && !element.isF16() && !element.isBF16()) {
    return error() << "expected a capture of f32, f16 or bf16, got "
                   << argument.getType();
  }
  if (llvm::count(attention->getOperands(), argument) > 1) {
    return error() << "expected it to be one operand of 'attn.attention', got "
                   << llvm::count(attention->getOperands(), argument);
  }
  return success(isSinks() || succeeded(findIndices()));
}

/// Appends the indices of an element to the values that the region yields, as
/// i32: kernels index with no other type.
static void yieldIndices(Region &region, Value element) {
  Operation *end = region.front().getTerminator();
  OpBuilder b(end);
  for (Value index : element.getDefiningOp<tensor::ExtractOp>().getIndices()) {
    Value narrow = b.createOrFold<arith::IndexCastOp>(end->getLoc(),
                                                      b.getI32Type(), index);
    end->insertOperands(end->getNumOperands(), narrow);
  }
}

/// Appends the derivative to the values that the score region yields.
LogicalResult CaptureGradient::differentiate(AttentionBwdOp part) {
  Region &region = part.getScoreRegion();
  if (!attention.hasScoreRegion()) {
    // The score itself.
    OpBuilder b(func.getContext());
    Block &block = region.emplaceBlock();
    SmallVector<Type> types{b.getF32Type()};
    types.append(positions, b.getI32Type());
    llvm::append_range(types, part.getCaptures().getTypes());
    block.addArguments(types,
                       SmallVector<Location>(types.size(), part.getLoc()));
    b.setInsertionPointToStart(&block);
    YieldOp::create(b, part.getLoc(), block.getArgument(Score));
  }
  if (failed(SlopeWriter(region, sourcesIn(region)).run())) {
    return failure();
  }
  if (part.getGradients() == Gradients::Elements) {
    yieldIndices(region, sourcesIn(region).front());
  }
  if (isScale()) {
    Operation *end = region.front().getTerminator();
    OpBuilder b(end);
    end->setOperand(
        1, b.createOrFold<arith::MulFOp>(end->getLoc(), end->getOperand(1),
                                         region.getArgument(Score)));
  }
  return success();
}

FailureOr<AttentionBwdOp> CaptureGradient::writePart(AttentionBwdOp all,
                                                     Gradients kind,
                                                     AffineMap indices) {
  OpBuilder b(all);
  auto part = AttentionBwdOp::create(
      b, all.getLoc(), all.getQuery(), all.getKey(), all.getValue(),
      all.getOutGradient(), all.getLse2(), all.getDelta(), /*sums=*/Value(),
      /*turns=*/Value(), /*seeing=*/Value(), all.getScale(), all.getBounds(),
      all.getDropoutRate(), all.getDropoutState(), all.getCaptures(),
      all.getMask(), all.getLayout(), all.getBoundKinds(), kind, number(),
      indices ? AffineMapAttr::get(indices) : AffineMapAttr(), IntegerAttr(),
      IntegerAttr(), IntegerAttr(), ConfigAttr());
  IRMapping ofRegions;
  attention.getMaskRegion().cloneInto(&part.getMaskRegion(), ofRegions);
  attention.getScoreRegion().cloneInto(&part.getScoreRegion(), ofRegions);
  if (failed(differentiate(part))) {
    return failure();
  }
  return part;
}

/// The gradient of sinks needs no scores: it is a sum over delta and the LSE.
Value CaptureGradient::writeOfSinks(AttentionBwdOp all, Value sinks) {
  OpBuilder b(all);
  AffineMap ofHeads = AffineMap::get(3, 0, b.getAffineDimExpr(1));
  auto gradient = SumGradientOp::create(
      b, all.getLoc(), typeOfGradient(argument), all.getDelta(),
      /*divisor=*/Value(), all.getLse2(), sinks, b.getStringAttr(names::sinks),
      AffineMapAttr::get(ofHeads), ConfigAttr());
  return gradient.getGradient();
}

FailureOr<Value> CaptureGradient::write(AttentionBwdOp all) {
  FailureOr<AffineMap> indices = findIndices();
  FailureOr<ArgumentNames> names =
      ArgumentNames::of(func, attention.getCaptures());
  if (failed(indices) || failed(names)) {
    return failure();
  }
  if (!*indices) {
    auto elements = writePart(all, Gradients::Elements, AffineMap());
    return failed(elements) ? FailureOr<Value>(failure())
                            : FailureOr<Value>(elements->getResult(0));
  }
  bool ofQuery = indices->isFunctionOfDim(dimOf(Query)),
       ofKey = indices->isFunctionOfDim(dimOf(Key));
  if (ofQuery && ofKey) {
    auto pairs = writePart(all, Gradients::Pairs, *indices);
    return failed(pairs) ? FailureOr<Value>(failure())
                         : FailureOr<Value>(pairs->getResult(0));
  }
  auto sums = ofKey
                  ? writePart(all, Gradients::KeySums, *indices)
                  : writePart(all, Gradients::RowSums, /*indices=*/AffineMap());
  if (failed(sums)) {
    return failure();
  }
  OpBuilder b(all);
  // From (b, h, i, j) to (b, h, p).
  AffineExpr batch = b.getAffineDimExpr(0), head = b.getAffineDimExpr(1),
             position = b.getAffineDimExpr(2);
  AffineMap ofSums = indices->replaceDimsAndSymbols(
      {batch, head, position, position}, {}, /*numResultDims=*/3,
      /*numResultSyms=*/0);
  std::string name = names->captureOf(*sums).name;
  auto gradient = SumGradientOp::create(
      b, all.getLoc(), typeOfGradient(argument), sums->getResult(0),
      isScale() ? all.getScale() : Value(), /*lse2=*/Value(),
      /*sinks=*/Value(), b.getStringAttr(name), AffineMapAttr::get(ofSums),
      ConfigAttr());
  return gradient.getGradient();
}
