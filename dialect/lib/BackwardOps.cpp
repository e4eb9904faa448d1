// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of attn.delta and attn.attention_bwd; labels are those of their
// descriptions.
#include "AttentionChecks.h"
#include "attn/dialect/RegionProgram.h"
#include "attn/dialect/ScoreOps.h"

using namespace mlir;
using namespace attn;

ProblemAttr DeltaOp::getProblem() {
  return ProblemAttr::get(getContext(), KernelKind::Delta,
                          getOut().getType().getElementType(), getHeadDimV(),
                          getHeadDimV(), getLayout(), MaskKind::None,
                          attn::RegionKind::Absent, attn::RegionKind::Absent,
                          MaskBounds::None, RowKeys::None,
                          /*dropout=*/false);
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

/// Sums are stored in groups of columns. The last columns of tiles that are
/// wider than the head dim have sums, too, which are zero.
static LogicalResult verifySumColumns(Operation *op, NamedTensor sums,
                                      int64_t headDim) {
  if (failed(verifyHeadDim(op, sums))) {
    return failure();
  }
  if (sums.dim(3) % kColumnsOfSums != 0) {
    return op->emitOpError("expected the head dim of '")
           << sums.name << "' to be a multiple of " << kColumnsOfSums
           << ", got " << sums.dim(3);
  }
  if (sums.dim(3) < headDim) {
    return op->emitOpError("expected '")
           << sums.name << "' head dim to be at least " << headDim << ", got "
           << sums.dim(3);
  }
  return success();
}

/// Requires turns to have the first three dimensions of another tensor.
static LogicalResult verifyTurns(Operation *op, Type type,
                                 const NamedTensor &other) {
  NamedTensor turns{"turns", cast<RankedTensorType>(type)};
  return expectDims(op, {{turns, 0, "batch size", other.dim(0)},
                         {turns, 1, "heads", other.dim(1)},
                         {turns, 2, "seqlen", other.dim(2)}});
}

/// C4 of attn.delta.
static LogicalResult verifyZeros(DeltaOp op, const NamedTensor &delta) {
  if (op.getTurns() &&
      failed(verifyTurns(op, op.getTurns().getType(), delta))) {
    return failure();
  }
  if (!op.getSums()) {
    return success();
  }
  NamedTensor sums{"sums", op.getSums().getType()};
  return failure(failed(verifySumColumns(op, sums, /*headDim=*/0)) ||
                 failed(expectDims(op, {{sums, 0, "batch size", delta.dim(0)},
                                        {sums, 1, "heads", delta.dim(1)},
                                        {sums, 2, "seqlen", delta.dim(2)}})));
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
                 failed(verifyRows(*this, delta, out.dim(s))) || // C3
                 failed(verifyZeros(*this, delta)));
}

ProblemAttr AttentionBwdOp::getProblem(Gradients gradients, bool inTurns) {
  static constexpr KernelKind kinds[] = {
      KernelKind::Bwd,     KernelKind::BwdDQ,    KernelKind::BwdDKDV,
      KernelKind::BwdDK,   KernelKind::BwdDV,    KernelKind::BwdRows,
      KernelKind::BwdKeys, KernelKind::BwdPairs, KernelKind::BwdElements,
      KernelKind::Bwd,     KernelKind::BwdDQDK,  KernelKind::BwdSeeing};
  KernelKind kind = inTurns ? KernelKind::BwdOrdered : kinds[size_t(gradients)];
  return ProblemAttr::get(
      getContext(), kind, getQuery().getType().getElementType(), getHeadDim(),
      getHeadDimV(), getLayout(), getMask(), regionKind(getScoreRegion(), 3),
      regionKind(getMaskRegion(), 2), getBoundKinds(), getRowKeysSides(),
      hasDropout());
}

ProblemAttr AttentionBwdOp::getUserProblem(KernelKind kind) {
  auto p = (*this)->getAttrOfType<ProblemAttr>(kUserProblemAttr);
  return p ? ProblemAttr::get(getContext(), kind, p.getDtype(), p.getHeadDim(),
                              p.getHeadDimV(), p.getLayout(), p.getMask(),
                              p.getScoreRegion(), p.getMaskRegion(),
                              p.getBounds(), p.getRowKeys(), p.getDropout())
           : ProblemAttr();
}

std::pair<unsigned, unsigned> attn::gradientRange(Gradients gradients) {
  switch (gradients) {
  case Gradients::All:
  case Gradients::Sums:
    return {0, 3};
  case Gradients::SumsDK:
    return {0, 2};
  case Gradients::DQ:
    return {0, 1};
  case Gradients::DKDV:
    return {1, 2};
  case Gradients::DK:
    return {1, 1};
  case Gradients::DV:
    return {2, 1};
  default:
    return {0, 0};
  }
}

/// Parses the words after the kind of gradients: "of 0 at affine_map<...>".
static ParseResult parseCapture(OpAsmParser &parser, IntegerAttr &capture,
                                AffineMapAttr &indices) {
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("of"))) {
    int64_t number = 0;
    if (parser.parseInteger(number)) {
      return failure();
    }
    capture = builder.getI64IntegerAttr(number);
  }
  if (succeeded(parser.parseOptionalKeyword("at"))) {
    return parser.parseAttribute(indices);
  }
  return success();
}

ParseResult attn::parseGradients(OpAsmParser &parser, GradientsAttr &gradients,
                                 IntegerAttr &capture, AffineMapAttr &indices) {
  Gradients which = Gradients::All;
  if (succeeded(parser.parseOptionalKeyword("gradients"))) {
    FailureOr<Gradients> given = failure();
    if (parser.parseLParen() ||
        failed(given = FieldParser<Gradients>::parse(parser)) ||
        parseCapture(parser, capture, indices) || parser.parseRParen()) {
      return failure();
    }
    which = *given;
  }
  gradients = GradientsAttr::get(parser.getContext(), which);
  return success();
}

void attn::printGradients(OpAsmPrinter &printer, Operation *,
                          GradientsAttr gradients, IntegerAttr capture,
                          AffineMapAttr indices) {
  if (gradients.getValue() == Gradients::All) {
    return;
  }
  printer << " gradients(" << stringifyGradients(gradients.getValue());
  if (capture) {
    printer << " of " << capture.getInt();
  }
  if (indices) {
    printer << " at " << indices;
  }
  printer << ")";
}

Value AttentionBwdOp::getGradient(Gradients which) {
  auto [first, count] = gradientRange(getGradients());
  unsigned at = gradientRange(which).first;
  return first <= at && at < first + count ? getResult(at - first) : Value();
}

void AttentionBwdOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (isOfCapture()) {
    return;
  }
  StringRef names[] = {"dq", "dk", "dv"};
  auto [first, count] = gradientRange(getGradients());
  for (auto [result, name] :
       llvm::zip(getResults(), ArrayRef(names).slice(first, count))) {
    setName(result, name);
  }
}

/// Returns the type of the sums over the keys of each query, or over the
/// queries of each key: (B, heads, positions), f32. Null if `type` is not that
/// of Q or K.
static Type sumsOf(Type type, LayoutKindAttr layout) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 4 || !layout) {
    return {};
  }
  unsigned s = layout.getValue() == LayoutKind::BSHD ? 1 : 2, h = 3 - s;
  return RankedTensorType::get(
      {tensor.getDimSize(0), tensor.getDimSize(h), tensor.getDimSize(s)},
      Float32Type::get(tensor.getContext()));
}

/// Returns the type of the queries that see the groups of these keys, or null
/// if they have no batches.
static Type seeingOf(Type of) {
  auto tensor = dyn_cast<RankedTensorType>(of);
  return tensor && tensor.getRank() == 4
             ? RankedTensorType::get(
                   {tensor.getDimSize(0), kSeeingNumbers, ShapedType::kDynamic},
                   Float32Type::get(tensor.getContext()))
             : Type();
}

/// Returns the type of new sums of so many columns beside such statistics, or
/// null if these have no three dimensions.
static Type newSumsOf(Type statistics, int64_t columns) {
  auto rows = dyn_cast<RankedTensorType>(statistics);
  if (!rows || rows.getRank() != 3 || columns <= 0) {
    return {};
  }
  return RankedTensorType::get(
      {rows.getDimSize(0), rows.getDimSize(1), rows.getDimSize(2), columns},
      rows.getElementType());
}

/// Returns the type of capture number `capture`, or null if there is none, or
/// no tensor.
static Type typeOfCapture(ValueRange captures, IntegerAttr capture) {
  bool isKnown =
      capture && capture.getInt() >= 0 &&
      uint64_t(capture.getInt()) < captures.size() &&
      isa<RankedTensorType>(captures[size_t(capture.getInt())].getType());
  return isKnown ? captures[size_t(capture.getInt())].getType() : Type();
}

// C10
LogicalResult AttentionBwdOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  // A parser asks before it has set the default.
  GradientsAttr given = adaptor.getProperties().gradients;
  Gradients gradients = given ? given.getValue() : Gradients::All;
  Type query = adaptor.getQuery().getType(), key = adaptor.getKey().getType();
  switch (gradients) {
  case Gradients::RowSums:
    types.push_back(sumsOf(query, adaptor.getProperties().layout));
    break;
  case Gradients::KeySums:
    types.push_back(sumsOf(key, adaptor.getProperties().layout));
    break;
  case Gradients::Seeing:
    types.push_back(seeingOf(key));
    break;
  case Gradients::Pairs:
  case Gradients::Elements:
    types.push_back(
        typeOfCapture(adaptor.getCaptures(), adaptor.getProperties().capture));
    break;
  default: {
    Type first = adaptor.getSums() ? adaptor.getSums().getType() : query;
    if (IntegerAttr columns = adaptor.getProperties().new_sums) {
      first = newSumsOf(adaptor.getLse2().getType(), columns.getInt());
    }
    Type all[] = {first, key, adaptor.getValue().getType()};
    auto [begin, count] = gradientRange(gradients);
    llvm::append_range(types, ArrayRef(all).slice(begin, count));
    if (!first) {
      return emitOptionalError(location, "expected 'new_sums' to be positive, "
                                         "beside statistics of rank 3");
    }
    return success();
  }
  }
  return types.back() ? success()
                      : emitOptionalError(location, // C12
                                          "expected Q and K of rank 4, and "
                                          "'of' to be the number of a captured "
                                          "tensor beside 'pairs' and "
                                          "'elements'");
}

/// Checks that a map leads from `positions` to the `rank` indices of a tensor.
static LogicalResult verifyIndices(Operation *op, AffineMap map,
                                   unsigned positions, int64_t rank) {
  llvm::SmallDenseSet<unsigned> seen;
  auto isIndex = [&](AffineExpr index) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    return dim ? seen.insert(dim.getPosition()).second
               : isa<AffineConstantExpr>(index) &&
                     cast<AffineConstantExpr>(index).getValue() == 0;
  };
  if (map.getNumDims() == positions && map.getNumSymbols() == 0 &&
      int64_t(map.getNumResults()) == rank &&
      llvm::all_of(map.getResults(), isIndex)) {
    return success();
  }
  return op->emitOpError("expected 'at' to be a map from ")
         << positions << " positions to " << rank
         << " indices, each of which is one of them, at most once, or 0, got "
         << AffineMapAttr::get(map);
}

/// C13
static LogicalResult verifyIndicesOfCapture(AttentionBwdOp op) {
  AffineMap map = *op.getIndices();
  auto capture =
      dyn_cast<RankedTensorType>(op.getCaptures()[*op.getCapture()].getType());
  if (!capture) {
    return op.emitOpError("expected 'of' to be the number of a captured tensor "
                          "beside 'at', got ")
           << int64_t(*op.getCapture());
  }
  if (failed(verifyIndices(op, map, /*positions=*/4, capture.getRank()))) {
    return failure();
  }
  bool isPairs = op.getGradients() == Gradients::Pairs;
  if (map.isFunctionOfDim(3) && map.isFunctionOfDim(2) == isPairs) {
    return success();
  }
  return op.emitOpError("expected 'at' to have the position of the key among "
                        "the indices, and only for 'pairs' also that of the "
                        "query, got ")
         << AffineMapAttr::get(map);
}

/// C9, C12 and C13: the derivative by a capture or by the scale.
static LogicalResult verifyCapture(AttentionBwdOp op) {
  Gradients kind = op.getGradients();
  std::optional<uint64_t> number = op.getCapture();
  bool isPairs = kind == Gradients::Pairs;
  if (!op.isOfCapture() ? number.has_value()
                        : !number && kind != Gradients::RowSums) { // C12
    return op.emitOpError("expected 'of' with 'key_sums', 'pairs' and "
                          "'elements', and otherwise only with 'row_sums'");
  }
  if (op.isOfCapture() && !op.hasScoreRegion()) { // C9
    return op.emitOpError("expected a score region beside '")
           << stringifyGradients(kind) << "', got none";
  }
  if (number) {
    Type type = *number < op.getCaptures().size()
                    ? op.getCaptures()[*number].getType()
                    : Type();
    Type element = type ? getElementTypeOrSelf(type) : Type();
    if (!element || !(element.isF32() || element.isF16() || element.isBF16())) {
      return op.emitOpError("expected 'of' to be the number of a capture of "
                            "f32, f16 or bf16, got ")
             << int64_t(*number);
    }
    if (kind == Gradients::Elements && !element.isF32()) {
      return op.emitOpError("expected 'of' to be the number of a tensor of f32 "
                            "beside 'elements', got ")
             << type;
    }
  }
  bool hasIndices = isPairs || kind == Gradients::KeySums;
  if (hasIndices != op.getIndices().has_value()) { // C13
    return op.emitOpError("expected 'at' beside 'key_sums' and 'pairs', and "
                          "nowhere else");
  }
  return hasIndices ? verifyIndicesOfCapture(op) : success();
}

ProblemAttr SumGradientOp::getProblem() {
  // There is neither Q nor V: the numbers only fill the attribute.
  return ProblemAttr::get(getContext(), KernelKind::Sum,
                          BFloat16Type::get(getContext()), /*head_dim=*/16,
                          /*head_dim_v=*/16, LayoutKind::BSHD, MaskKind::None,
                          attn::RegionKind::Absent, attn::RegionKind::Absent,
                          MaskBounds::None, RowKeys::None,
                          /*dropout=*/false);
}

/// C4
static LogicalResult verifyWeights(SumGradientOp op) {
  if (bool(op.getLse2()) != bool(op.getSinks())) {
    return op.emitOpError("expected 'lse2' if and only if there are 'sinks'");
  }
  if (!op.getSinks()) {
    return success();
  }
  if (op.getDivisor()) {
    return op.emitOpError("expected no 'divisor' beside 'sinks'");
  }
  AffineMap ofHeads =
      AffineMap::get(3, 0, getAffineDimExpr(1, op.getContext()));
  if (op.getIndices() != ofHeads) {
    return op.emitOpError("expected 'at' to be ")
           << AffineMapAttr::get(ofHeads) << " beside 'sinks', got "
           << op.getIndicesAttr();
  }
  return success();
}

LogicalResult SumGradientOp::verify() {
  if (getGradient().getType().getRank() == 0) { // C3
    return emitOpError("expected a result of rank 1 or more, got ")
           << getGradient().getType();
  }
  if (failed(verifyIndices(*this, getIndices(), /*positions=*/3,
                           getGradient().getType().getRank()))) { // C2
    return failure();
  }
  return verifyWeights(*this);
}

/// C10, for the turns. What `seeing` leaves of the blocks of keys that add to a
/// block of queries is in memory, where an item does not look for the one
/// before its own.
static LogicalResult verifyTurnsOf(AttentionBwdOp op, const NamedTensor &lse2) {
  if (op.getGradients() != Gradients::Sums) {
    return op.emitOpError("expected 'turns' only if 'gradients' is sums, got ")
           << stringifyGradients(op.getGradients());
  }
  if (op.getSeeing()) {
    return op.emitOpError("expected no 'turns' beside 'seeing'");
  }
  return verifyTurns(op, op.getTurns().getType(), lse2);
}

/// C15 of attn.attention_bwd and C4 of attn.convert_sums, for blocks of queries
/// whose turns say whether they have sums.
template <typename Op>
static LogicalResult verifyShareQueries(Op op, bool expected) {
  IntegerAttr queries = op.getShareQueriesAttr();
  if (bool(queries) != expected) {
    return op.emitOpError("expected the queries of a share ")
           << (expected ? "beside new sums or turns, got none"
                        : "only beside new sums or turns, got some");
  }
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  return !queries || (queries.getInt() > 0 && queries.getInt() <= most)
             ? success()
             : op.emitOpError("expected the queries of a share to be in 1..")
                   << most << ", got " << queries.getInt();
}

/// C10, for the sums.
static LogicalResult verifySums(AttentionBwdOp op) {
  Gradients gradients = op.getGradients();
  bool expected = op.makesSums();
  if ((op.getSums() && !expected) ||
      (op.getNewSums() && gradients != Gradients::Sums)) {
    return op.emitOpError("expected 'sums' only if 'gradients' is sums or "
                          "sums_dk, and 'new_sums' only if it is sums, got ")
           << stringifyGradients(gradients);
  }
  int given = int(bool(op.getSums())) + int(op.getNewSums().has_value());
  if (given != int(expected)) {
    return op.emitOpError("expected either 'sums' or 'new_sums', as "
                          "'gradients' is ")
           << stringifyGradients(gradients) << ", got "
           << (given == 0 ? "none" : "both");
  }
  if (op.getNewSums() && !op.getTurns()) {
    return op.emitOpError("expected 'turns' beside 'new_sums', got none");
  }
  NamedTensor lse2{"lse2", op.getLse2().getType()};
  if (failed(verifyShareQueries(op, op.getNewSums().has_value())) ||
      (op.getTurns() && failed(verifyTurnsOf(op, lse2)))) {
    return failure();
  }
  if (!expected) {
    return success();
  }
  NamedTensor sums{"sums", cast<RankedTensorType>(op.getResult(0).getType())};
  return failure(failed(verifySumColumns(op, sums, op.getHeadDim())) ||
                 failed(expectDims(op, {{sums, 0, "batch size", lse2.dim(0)},
                                        {sums, 1, "heads", lse2.dim(1)},
                                        {sums, 2, "seqlen", lse2.dim(2)}})));
}

static bool readsHead(Region &region) {
  return !region.empty() && !region.getArgument(1).use_empty();
}

bool AttentionBwdOp::hasMaskOfHeads() {
  return readsHead(getMaskRegion()) || readsHead(getRowKeys());
}

/// C16
static LogicalResult verifySeeing(AttentionBwdOp op) {
  if (op.getSeeing() && !op.makesKeyGradients()) {
    return op.emitOpError("expected 'seeing' only beside gradients of K and V "
                          "without dQ, got gradients(")
           << stringifyGradients(op.getGradients()) << ")";
  }
  if (!op.getSeeing()) {
    return success();
  }
  NamedTensor seeing{"seeing", op.getSeeing().getType()},
      query{"query", op.getQuery().getType()};
  return expectDims(op, {{seeing, 0, "batch size", query.dim(0)},
                         {seeing, 1, "numbers of a group", kSeeingNumbers}});
}

/// C14
static LogicalResult verifyDropout(AttentionBwdOp op) {
  return attn::verifyDropout(op, op.getDropoutRate(), op.getDropoutState());
}

/// C15 of attn.attention_bwd, for the order of sums.
template <typename Op>
static LogicalResult verifyBlock(Op op, RankedTensorType sums) {
  std::optional<int64_t> queries = op.getTransposed();
  if (!queries) {
    return success();
  }
  if (*queries <= 0 || *queries % kColumnsOfSums != 0) {
    return op.emitOpError("expected 'transposed' to be a multiple of ")
           << kColumnsOfSums << ", got " << *queries;
  }
  int64_t columns = sums.getDimSize(3);
  return columns % kRowsOfSums == 0
             ? success()
             : op.emitOpError("expected 'transposed' only beside sums with a "
                              "multiple of ")
                   << kRowsOfSums << " columns, got " << columns;
}

/// C15
static LogicalResult verifyTransposed(AttentionBwdOp op) {
  if (op.getTransposed() && !op.makesSums()) {
    return op.emitOpError("expected 'transposed' only beside sums, got "
                          "gradients(")
           << stringifyGradients(op.getGradients()) << ")";
  }
  Value sums = op.getSumsResult();
  return sums ? verifyBlock(op, cast<RankedTensorType>(sums.getType()))
              : success();
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
                              getBounds().size())) ||
      failed(verifyRowKeys(*this, getRowKeys(), getMask())) ||
      failed(verifyUserMask(*this))) {
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
                 failed(verifySums(*this)) || failed(::verifyDropout(*this)) ||
                 failed(::verifyTransposed(*this)) ||
                 failed(verifyRows(*this, lse2, query.dim(s))) ||
                 failed(verifyHeads(*this, query.dim(h), key.dim(h))) || // C6
                 failed(verifyCapture(*this)) || failed(verifySeeing(*this)));
}

// C9, C11
LogicalResult AttentionBwdOp::verifyRegions() {
  Builder builder(getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  SmallVector<Type> results{f32, f32};
  if (getGradients() == Gradients::Elements) {
    auto gradient = cast<RankedTensorType>(getResult(0).getType());
    results.append(size_t(gradient.getRank()), i32);
  }
  if (failed(attn::verifyRegions(
          *this, getCaptures(),
          {{getMaskRegion(),
            "mask",
            {i32, i32, i32, i32},
            {builder.getI1Type()}},
           {getScoreRegion(), "score", {f32, i32, i32, i32, i32}, results},
           ruleOfRowKeys(getRowKeys())}))) {
    return failure();
  }
  bool isOfSeeing = getSeeing() || getGradients() == Gradients::Seeing;
  if (isOfSeeing && hasMaskOfHeads()) { // C16
    return emitOpError("expected a mask that does not read the head beside "
                       "'seeing'");
  }
  ValueRange indices =
      hasScoreRegion()
          ? ValueRange(getScoreRegion().front().getTerminator()->getOperands())
                .drop_front(2)
          : ValueRange();
  for (Value index : indices) { // C13
    if (dependsOn(index, getScoreRegion().getArgument(0))) {
      return emitOpError("expected the indices that the score region yields "
                         "not to depend on the score");
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sums of dQ.
//===----------------------------------------------------------------------===//

ProblemAttr ClearSumsOp::getProblem() {
  return ProblemAttr::get(
      getContext(), KernelKind::Clear, getDtype(), getHeadDim(), getHeadDim(),
      LayoutKind::BHSD, MaskKind::None, attn::RegionKind::Absent,
      attn::RegionKind::Absent, MaskBounds::None, RowKeys::None,
      /*dropout=*/false);
}

LogicalResult ClearSumsOp::verify() {
  if (!getDtype().isBF16() && !getDtype().isF16()) {
    return emitOpError("expected 'dtype' to be bf16 or f16, got ")
           << getDtype();
  }
  if (!getSums()) {
    return getTurns() ? success() // C3
                      : emitOpError("expected 'sums' or 'turns', got neither");
  }
  NamedTensor sums{"sums", getSums().getType()};
  if (getTurns() && failed(verifyTurns(*this, getTurns().getType(), sums))) {
    return failure(); // C2
  }
  return verifySumColumns(*this, sums, /*headDim=*/0); // C1
}

ProblemAttr ConvertSumsOp::getProblem() {
  return ProblemAttr::get(
      getContext(), KernelKind::Convert,
      getGradient().getType().getElementType(), getHeadDim(), getHeadDim(),
      getLayout(), MaskKind::None, attn::RegionKind::Absent,
      attn::RegionKind::Absent, MaskBounds::None, RowKeys::None,
      /*dropout=*/false);
}

static std::string numberOrNone(std::optional<int64_t> number) {
  return number ? std::to_string(*number) : "none";
}

LogicalResult ConvertSumsOp::verify() {
  if (failed(verifyBlock(*this, getSums().getType()))) {
    return failure(); // C3
  }
  auto made = getSums().getDefiningOp<AttentionBwdOp>(); // C3
  if (made && made.getTransposed() != getTransposed()) {
    return emitOpError("C3: expected 'transposed' as where the sums are made, ")
           << numberOrNone(made.getTransposed()) << ", got "
           << numberOrNone(getTransposed());
  }
  NamedTensor gradient{"gradient", getGradient().getType()},
      sums{"sums", getSums().getType()};
  if (failed(verifyShareQueries(*this, bool(getTurns())))) {
    return failure(); // C4
  }
  if (made && made.getNewSums() && made.getTurns() != getTurns()) {
    return emitOpError("C4: expected the turns of the op that makes the sums, "
                       "got ")
           << (getTurns() ? "others" : "none");
  }
  if (made && made.getShareQueries() != getShareQueries()) {
    return emitOpError("C4: expected the queries of a share as where the sums "
                       "are made, ")
           << numberOrNone(made.getShareQueries()) << ", got "
           << numberOrNone(getShareQueries());
  }
  if (getTurns() && failed(verifyTurns(*this, getTurns().getType(), sums))) {
    return failure();
  }
  return failure(
      failed(verifyHeadDim(*this, gradient)) || // C1
      failed(verifySumColumns(*this, sums, gradient.dim(3))) ||
      failed(expectDims(*this,
                        {{sums, 0, "batch size", gradient.dim(0)}, // C2
                         {sums, 1, "heads", gradient.dim(getHeadsDim())}})) ||
      failed(verifyRows(*this, sums, gradient.dim(getPositionDim()))));
}
