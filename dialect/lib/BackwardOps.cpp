// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of attn.delta and attn.attention_bwd; labels are those of their
// descriptions.
#include "AttentionChecks.h"

using namespace mlir;
using namespace attn;

ProblemAttr DeltaOp::getProblem() {
  return ProblemAttr::get(getContext(), KernelKind::Delta,
                          getOut().getType().getElementType(), getHeadDimV(),
                          getHeadDimV(), getLayout(), MaskKind::None,
                          attn::RegionKind::Absent, attn::RegionKind::Absent,
                          MaskBounds::None, RowKeys::None);
}

/// Checks that row statistics have a row for each of `queries`.
static LogicalResult verifyRows(Operation *op, NamedTensor rows,
                                int64_t queries) {
  int64_t got = rows.dim(2);
  if (ShapedType::isDynamic(got) || ShapedType::isDynamic(queries) ||
      got >= queries) {
    return success();
  }
  return op->emitOpError("expected '")
         << rows.name << "' seqlen to be at least " << queries << ", got "
         << got;
}

LogicalResult DeltaOp::verify() {
  NamedTensor out{"out", getOut().getType()}, lse{"lse", getLse().getType()},
      delta{"delta", getDelta().getType()};
  unsigned s = getPositionDim(), h = getHeadsDim();
  return failure(failed(verifyHeadDim(*this, out)) || // C1
                 failed(expectDims(*this, {{lse, 0, "batch size", out.dim(0)},
                                           {lse, 1, "heads", out.dim(h)},
                                           {lse, 2, "seqlen", out.dim(s)}, // C2
                                           {delta, 0, "batch size", out.dim(0)},
                                           {delta, 1, "heads", out.dim(h)}})) ||
                 failed(verifyRows(*this, delta, out.dim(s)))); // C3
}

ProblemAttr AttentionBwdOp::getProblem() {
  static constexpr KernelKind kinds[] = {KernelKind::Bwd, KernelKind::BwdDQ,
                                         KernelKind::BwdDKDV, KernelKind::BwdDK,
                                         KernelKind::BwdDV};
  return ProblemAttr::get(
      getContext(), kinds[size_t(getGradients())],
      getQuery().getType().getElementType(), getHeadDim(), getHeadDimV(),
      getLayout(), getMask(), regionKind(getScoreRegion(), 3),
      regionKind(getMaskRegion(), 2), getBoundKinds(), RowKeys::None);
}

std::pair<unsigned, unsigned> attn::gradientRange(Gradients gradients) {
  switch (gradients) {
  case Gradients::All:
    return {0, 3};
  case Gradients::DQ:
    return {0, 1};
  case Gradients::DKDV:
    return {1, 2};
  case Gradients::DK:
    return {1, 1};
  case Gradients::DV:
    return {2, 1};
  }
  llvm_unreachable("unknown gradients");
}

ParseResult attn::parseGradients(OpAsmParser &parser,
                                 GradientsAttr &gradients) {
  Gradients which = Gradients::All;
  if (succeeded(parser.parseOptionalKeyword("gradients"))) {
    FailureOr<Gradients> given = failure();
    if (parser.parseLParen() ||
        failed(given = FieldParser<Gradients>::parse(parser)) ||
        parser.parseRParen()) {
      return failure();
    }
    which = *given;
  }
  gradients = GradientsAttr::get(parser.getContext(), which);
  return success();
}

void attn::printGradients(OpAsmPrinter &printer, Operation *,
                          GradientsAttr gradients) {
  if (gradients.getValue() != Gradients::All) {
    printer << " gradients(" << stringifyGradients(gradients.getValue()) << ")";
  }
}

Value AttentionBwdOp::getGradient(Gradients which) {
  auto [first, count] = gradientRange(getGradients());
  unsigned at = gradientRange(which).first;
  return first <= at && at < first + count ? getResult(at - first) : Value();
}

void AttentionBwdOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  StringRef names[] = {"dq", "dk", "dv"};
  auto [first, count] = gradientRange(getGradients());
  for (auto [result, name] :
       llvm::zip(getResults(), ArrayRef(names).slice(first, count))) {
    setName(result, name);
  }
}

// C10
LogicalResult AttentionBwdOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  // A parser asks before it has set the default.
  GradientsAttr given = adaptor.getProperties().gradients;
  Gradients gradients = given ? given.getValue() : Gradients::All;
  Value of[] = {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()};
  auto [first, count] = gradientRange(gradients);
  llvm::append_range(types, ValueRange(of).slice(first, count).getTypes());
  return success();
}

LogicalResult AttentionBwdOp::verify() {
  NamedTensor query{"query", getQuery().getType()},
      key{"key", getKey().getType()}, value{"value", getValue().getType()},
      gradient{"out_gradient", getOutGradient().getType()},
      lse2{"lse2", getLse2().getType()};
  if (failed(verifyHeadDim(*this, query)) || // C2
      failed(verifyHeadDim(*this, value)) ||
      failed(verifyElementTypes(*this, query.type.getElementType(), // C1
                                {key, value, gradient})) ||
      failed(verifyMaskBounds(*this, getMask(), getBoundKinds(), // C11
                              getBounds().size()))) {
    return failure();
  }
  bool positionsFirst = getLayout() == LayoutKind::BSHD;
  unsigned s = positionsFirst ? 1 : 2, h = positionsFirst ? 2 : 1;
  const DimRule rules[] = {{key, 3, "head dim", query.dim(3)},   // C3
                           {key, 0, "batch size", query.dim(0)}, // C4
                           {value, 0, "batch size", query.dim(0)},
                           {value, s, "seqlen", key.dim(s)}, // C5
                           {value, h, "heads", key.dim(h)},
                           {gradient, 0, "batch size", query.dim(0)}, // C7
                           {gradient, s, "seqlen", query.dim(s)},
                           {gradient, h, "heads", query.dim(h)},
                           {gradient, 3, "head dim", value.dim(3)},
                           {lse2, 0, "batch size", query.dim(0)}, // C8
                           {lse2, 1, "heads", query.dim(h)}};
  return failure(failed(expectDims(*this, rules)) ||
                 failed(verifyRows(*this, lse2, query.dim(s))) ||
                 failed(verifyHeads(*this, query.dim(h), key.dim(h)))); // C6
}

// C9, C11
LogicalResult AttentionBwdOp::verifyRegions() {
  Builder builder(getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  return attn::verifyRegions(
      *this, getCaptures(),
      {{getMaskRegion(), "mask", {i32, i32, i32, i32}, {builder.getI1Type()}},
       {getScoreRegion(), "score", {f32, i32, i32, i32, i32}, {f32, f32}}});
}
