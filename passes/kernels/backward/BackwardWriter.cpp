// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BackwardWriter.h"
#include "../Tiling/ArgumentList.h"
#include "../Tiling/LaunchConditions.h"
#include "../Tiling/QueryRanges.h"
#include "../Tiling/WorkSection.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/KeptP.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

BackwardWriter::BackwardWriter(AttentionBwdOp op, Side owned)
    : b(op.getLoc()), op(op), matrix(b, owned),
      keepsRoundedP(op.getConfig()->getKeptP() != KeptP::F32),
      config(*op.getConfig()), owned(owned),
      elementType(op.getQuery().getType().getElementType()) {
  b.setInsertionPoint(op->getParentOp());
  AccessMap access;
  access.order[0] = AccessMap::Batch;
  access.order[op.getHeadsDim()] = AccessMap::Head;
  access.order[op.getPositionDim()] = AccessMap::Position;
  access.order[3] = AccessMap::Dim;
  layout = access.build(b.getContext());
}

/// Returns the columns of the tiles of Q, K, V or dO.
static int64_t columnsOf(Value source, const BackwardArguments &args,
                         ConfigAttr config) {
  bool isOfV = source == args.v || source == args.outGradient;
  int64_t stated = isOfV ? config.getTileDv() : config.getTileD();
  return stated ? stated : cast<ShapedType>(source.getType()).getDimSize(3);
}

//===----------------------------------------------------------------------===//
// Arguments and sizes.
//===----------------------------------------------------------------------===//

static void addInputs(AttentionBwdOp op, BackwardArguments &args,
                      ArgumentList &list) {
  using namespace attn::names;
  using Role = ArgumentRole;
  std::array<StringRef, 3> ofRows = {batches, queryHeads, rows};
  list.add(args.q, q, Role::Query, op.getQuery(),
           list.dimsOf(queries, queryHeads, dim));
  list.add(args.k, k, Role::Key, op.getKey(), list.dimsOf(keys, keyHeads, dim));
  list.add(args.v, v, Role::Value, op.getValue(),
           list.dimsOf(keys, keyHeads, dimV));
  list.add(args.outGradient, outGradient, Role::OutputGradient,
           op.getOutGradient(), list.dimsOf(queries, queryHeads, dimV));
  list.add(args.lse2, lse2, Role::Lse2, op.getLse2(), ofRows);
  list.add(args.delta, delta, Role::Delta, op.getDelta(), ofRows);
  list.addScale(args.scale, op.getScale());
  list.addBounds(args.bounds, op.getBoundKinds(), op.getBounds());
  args.dropout.addArguments(list, op.getDropoutRate(), op.getDropoutState());
  list.addCaptures(args.captures, op.getCaptures());
  if (op.getSeeing()) {
    list.add(args.seeing, seeing, Role::SeeingQueries, op.getSeeing());
  }
}

/// Adds the result of a kernel of derivatives by `capture`: its sums, or its
/// gradient, which has the sizes of the capture.
static void addResultOfCapture(AttentionBwdOp op, const ArgumentName &capture,
                               BackwardArguments &args, ArgumentList &list) {
  using namespace attn::names;
  Gradients kind = op.getGradients();
  if (kind == Gradients::RowSums || kind == Gradients::KeySums) {
    // Sizes have default names, also in the kernel that reads the sums.
    list.addResult(args.ofCapture, sumsOf(capture.name),
                   ArgumentRole::PartialSums, op.getResult(0), {});
    return;
  }
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  auto sizes = llvm::map_to_vector(llvm::seq(type.getRank()), [&](int64_t dim) {
    return sizeOf(capture.symbol, dim);
  });
  list.addResult(args.ofCapture, gradientOf(capture.name),
                 ArgumentRole::CaptureGradient, op.getResult(0),
                 SmallVector<StringRef>(sizes.begin(), sizes.end()),
                 kind == Gradients::Elements ? ArgumentAccess::Accumulate
                                             : ArgumentAccess::Write);
}

static void addGradients(AttentionBwdOp op, BackwardArguments &args,
                         ArgumentList &list) {
  using namespace attn::names;
  using Role = ArgumentRole;
  if (Value made = op.getSumsResult()) {
    std::array<StringRef, 4> dims = {batches, queryHeads, rows, sumColumns};
    if (op.getNewSums()) {
      list.addResult(args.sums, sums, Role::QueryGradientSums, made, dims);
    } else {
      list.addSums(args.sums, sums, Role::QueryGradientSums, op.getSums(),
                   dims);
    }
    if (op.getTurns()) {
      list.addSums(args.turns, turns, Role::Turns, op.getTurns(),
                   ArrayRef(dims).drop_back());
    }
  } else if (Value dq = op.getGradient(Gradients::DQ)) {
    list.addResult(args.dq, queryGradient, Role::QueryGradient, dq,
                   list.dimsOf(queries, queryHeads, dim));
  }
  if (Value dk = op.getGradient(Gradients::DK)) {
    list.addResult(args.dk, keyGradient, Role::KeyGradient, dk,
                   list.dimsOf(keys, keyHeads, dim));
  }
  if (Value dv = op.getGradient(Gradients::DV)) {
    list.addResult(args.dv, valueGradient, Role::ValueGradient, dv,
                   list.dimsOf(keys, keyHeads, dimV));
  }
}

/// Writes sizes, as i32, and the scale of exponents.
void BackwardWriter::writeSizes() {
  auto size = [&](Value tensor, unsigned dim) {
    Value index =
        b.make<tensor::DimOp>(tensor, b.make<arith::ConstantIndexOp>(dim));
    return b.make<arith::IndexCastOp>(b.getI32Type(), index);
  };
  batches = size(args.q, 0);
  heads = size(args.q, op.getHeadsDim());
  keyHeads = size(args.k, op.getHeadsDim());
  group = b.div(heads, keyHeads);
  KeyRanges &ranges = matrix.ranges;
  ranges.query.length = size(args.q, op.getPositionDim());
  ranges.key.length = size(args.k, op.getPositionDim());
  matrix.axis(owned).tile = config.getTileM();
  matrix.axis(matrix.streamed()).tile = config.getTileN();
  scores = matrix.scoreType(b.getF32Type());
  for (Axis *axis : {&ranges.query, &ranges.key}) {
    axis->tileSize = b.i32(axis->tile);
  }
  ranges.maskRegion = op.hasMaskRegion();
  ranges.rowKeys = RowKeysRegion::of(op, args.captures);
  MaskKind mask = op.getMask();
  MaskBounds given = op.getBoundKinds();
  ranges.builtIn = {seenKeys(b.getContext(), mask, given),
                    builtInMask(mask).bottomRight, ranges.query.length,
                    ranges.key.length};
  ranges.builtIn.seeing = seeingDiagonals(b.getContext(), mask, given);
  for (auto [bound, value] : llvm::zip(maskBounds(given), args.bounds)) {
    ranges.builtIn.bounds[bound.name] = value;
  }
  args.dropout.writeNumbers(b);
  // A score region receives the scaled score.
  Value log2e =
      b.make<arith::ConstantOp>(b.getF32FloatAttr(llvm::numbers::log2ef));
  exponentScale =
      op.hasScoreRegion() ? log2e : b.make<arith::MulFOp>(args.scale, log2e);
}

tile::KernelOp BackwardWriter::createKernel(StringRef name,
                                            ArgumentNames names) {
  ArgumentName capture = names.captureOf(op);
  ArgumentList list(b.getContext(), std::move(names), op.getPositionDim(),
                    op.getHeadsDim());
  addInputs(op, args, list);
  if (op.isOfCapture()) {
    addResultOfCapture(op, capture, args, list);
  } else {
    addGradients(op, args, list);
  }
  tile::KernelOp kernel = list.createKernel(
      b, b.loc, name, op.getProblem(), config, [&](tile::KernelOp created) {
        describeAttention(created, op, list.captureNames());
      });
  writeSizes();
  return kernel;
}

//===----------------------------------------------------------------------===//
// Work items, loads and stores.
//===----------------------------------------------------------------------===//

/// Returns the number of heads whose items are interleaved. The more they are,
/// the fewer CTAs wait in line for the turns of one head, but blocks of queries
/// of all of them have to stay in the L2 cache. Bytes are those of K and V in
/// all of these heads: in one block of keys of each, or, of short sequences,
/// where there may be twice as many heads, in all keys.
static Value writeHeadsSideBySide(TileBuilder &b, const Axis &keys,
                                  int64_t bytesOfKey) {
  constexpr int64_t fewest = 8, bytesOfBlocks = 512 << 10,
                    bytesOfHeads = 8 << 20;
  int64_t usual = std::max(fewest, bytesOfBlocks / (keys.tile * bytesOfKey));
  Value length = b.max(keys.length, b.i32(1));
  Value heads = b.div(b.i32(bytesOfHeads / bytesOfKey), length);
  return b.max(b.min(heads, b.i32(2 * usual)), b.i32(usual));
}

Value BackwardWriter::writeNext() {
  Axis &axis = matrix.axis(owned), &keys = matrix.axis(Side::Key);
  Value blocks = b.ceilDiv(axis.length, axis.tileSize);
  if (owned == Side::Key) {
    matrix.repeats = group;
  }
  Value section;
  if (args.turns) {
    int64_t columns =
        columnsOf(args.k, args, config) + columnsOf(args.v, args, config);
    section = writeHeadsSideBySide(
        b, keys, columns * elementType.getIntOrFloatBitWidth() / 8);
  } else if (config.getSectionMib() > 0) {
    Value planes = b.mul(batches, keyHeads);
    section = headsOfSection(b, config, args.k, args.v, planes, keys.length);
    section = owned == Side::Query ? b.mul(section, group) : section;
  }
  Value itemHeads = owned == Side::Query ? heads : keyHeads, whole;
  if (config.getLastWaveParts() > 1) {
    // A block of the cut is an iteration.
    const Axis &query = matrix.axis(Side::Query);
    Value iterations = b.mul(b.ceilDiv(query.length, query.tileSize), group);
    auto cut = tile::CutOp::create(b, b.loc, b.mul(iterations, query.tileSize),
                                   query.tile, config.getLastWaveParts());
    whole = cut.getWhole();
    matrix.ranges.parts = cut.getParts();
  }
  return b.beginWork(blocks, itemHeads, batches, section, whole,
                     matrix.ranges.parts);
}

Value BackwardWriter::headOf(Side side, const Place &at) {
  if (side == owned) {
    return at.head;
  }
  if (owned == Side::Query) {
    return b.make<arith::DivUIOp>(at.head, group);
  }
  Value member = b.make<arith::RemUIOp>(matrix.iteration, group);
  return b.add(b.mul(at.head, group), member);
}

Place BackwardWriter::itemOf(Value work) {
  Place at = matrix.place(work);
  if (!sumsBatches && !sumsHeads) {
    return at;
  }
  Values members = matrix.members();
  at.head = sumsHeads ? members.front() : at.head;
  at.batch = sumsBatches ? members.back() : at.batch;
  return at;
}

Place BackwardWriter::placeOf(Value work) {
  Place at = itemOf(work);
  at.head = headOf(Side::Query, at);
  return at;
}

Value BackwardWriter::loadTile(StringRef step, Value source, Side side,
                               Value work) {
  Type type =
      matrix.tileType(side, columnsOf(source, args, config), elementType);
  return b.step(step, work, type, [&](ValueRange values) -> Values {
    Place at = itemOf(values[0]);
    return {b.make<tile::LoadOp>(type, source, at.batch, headOf(side, at),
                                 matrix.start(side, at), layout)};
  })[0];
}

Value BackwardWriter::loadRows(StringRef step, Value source, Value work) {
  auto type =
      RankedTensorType::get({matrix.axis(Side::Query).tile}, b.getF32Type());
  return b.step(step, work, type, [&](ValueRange values) -> Values {
    Place at = itemOf(values[0]);
    return {b.make<tile::LoadRowOp>(type, source, at.batch,
                                    headOf(Side::Query, at),
                                    matrix.start(Side::Query, at), Value())};
  })[0];
}

Value BackwardWriter::zeroSum(Value of) {
  auto type =
      matrix.tileType(owned, columnsOf(of, args, config), b.getF32Type());
  return b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0f));
}

/// Returns the factor that undoes the scale of a P that is kept rounded.
static Value unscaleP(TileBuilder &b, RankedTensorType type) {
  return b.make<arith::ConstantOp>(
      DenseElementsAttr::get(type, std::ldexp(1.0F, -kKeptExponent)));
}

void BackwardWriter::storeSum(StringRef step, StringRef store, Value sum,
                              Value dest, Value work) {
  auto type = cast<RankedTensorType>(sum.getType());
  auto rounded = type.clone(elementType);
  Value result = b.step(step, sum, rounded, [&](ValueRange values) -> Values {
    Value x = values[0];
    if (dest != args.dv) {
      x = b.make<arith::MulFOp>(x, b.make<tensor::SplatOp>(args.scale, type));
    } else if (args.dropout) {
      x = args.dropout.scaleUp(b, x);
    }
    if (dest == args.dv && keepsRoundedP) {
      x = b.make<arith::MulFOp>(x, unscaleP(b, type));
    }
    return {b.make<arith::TruncFOp>(rounded, x)};
  })[0];
  b.step(store, {result, work}, {}, [&](ValueRange values) -> Values {
    Place at = matrix.place(values[1]);
    tile::StoreOp::create(b, b.loc, values[0], dest, at.batch, at.head,
                          matrix.firstRowToWrite(values[1], at), layout);
    return {};
  });
}

//===----------------------------------------------------------------------===//
// From the scores to their derivatives.
//===----------------------------------------------------------------------===//

Value BackwardWriter::multiply(StringRef step, Value ownedRows,
                               Value streamedRows) {
  return b.step(step, {ownedRows, streamedRows}, scores,
                [&](ValueRange values) -> Values {
                  return {b.make<tile::MmaOp>(scores, values[0], values[1],
                                              Value(),
                                              /*transpose_b=*/true)};
                })[0];
}

Value BackwardWriter::addProduct(StringRef step, Value of, Value streamedRows,
                                 Value sum) {
  Type type = sum.getType();
  return b.step(
      step, {of, streamedRows, sum}, type, [&](ValueRange values) -> Values {
        return {b.make<tile::MmaOp>(type, values[0], values[1], values[2],
                                    /*transpose_b=*/false)};
      })[0];
}

Value BackwardWriter::writeScore(Value s, Value work, Value &slope) {
  if (!op.hasScoreRegion()) {
    slope = Value();
    return b.step("score", s, s.getType(),
                  [](ValueRange values) -> Values { return {values[0]}; })[0];
  }
  auto body = [&](ValueRange values) -> Values {
    Value factor = b.make<tensor::SplatOp>(args.scale, scores);
    Place at = placeOf(values[1]);
    return matrix.liftRegion(op.getScoreRegion(),
                             b.make<arith::MulFOp>(values[0], factor),
                             args.captures, at);
  };
  Values results = b.step("score", {s, work}, {scores, scores},
                          [&](ValueRange values) -> Values {
                            Values all = body(values);
                            all.truncate(2); // no indices
                            return all;
                          });
  slope = results[1];
  return results[0];
}

/// Masks what the mask excludes, and keys beyond the last one. A function of
/// the user may have any value for queries beyond the last one.
Value BackwardWriter::writeMask(Value s, Value work) {
  auto body = [&](ValueRange values) -> Values {
    Place at = placeOf(values[1]);
    bool needsQueries = op.getMask() != MaskKind::None || op.hasRowKeys() ||
                        op.hasScoreRegion();
    Value queries = needsQueries ? matrix.coords(Side::Query, at) : Value();
    Value ok = matrix.ranges.writeAdmitted(b, {queries, at.batch, at.head},
                                           matrix.coords(Side::Key, at));
    if (op.hasScoreRegion()) {
      Value past = b.like(matrix.axis(Side::Query).length, queries);
      Value inside =
          b.make<arith::CmpIOp>(arith::CmpIPredicate::slt, queries, past);
      ok = b.make<arith::AndIOp>(ok, inside);
    }
    if (op.hasMaskRegion()) {
      Value user =
          matrix.liftRegion(op.getMaskRegion(), {}, args.captures, at)[0];
      ok = b.make<arith::AndIOp>(ok, user);
    }
    auto lowest = DenseElementsAttr::get(
        scores, APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
    return {b.make<arith::SelectOp>(ok, values[0],
                                    b.make<arith::ConstantOp>(lowest))};
  };
  return b.step("mask", {s, work}, scores, body, /*masked=*/true)[0];
}

/// Repeats the statistics of queries along the keys of a score tile.
static Value alongKeys(TileBuilder &b, Value rows, RankedTensorType scores,
                       Side owned) {
  return b.make<tile::BroadcastOp>(scores, rows,
                                   /*dim=*/owned == Side::Query ? 1 : 0);
}

bool attn::hasSlopeOne(AttentionBwdOp op) {
  Operation *yield = op.getScoreRegion().front().getTerminator();
  return matchPattern(yield->getOperand(1), m_OneFloat());
}

/// Returns x times the slope, and 0 where P is 0: the slope may be infinite or
/// undefined there.
static Value timesSlope(TileBuilder &b, Value x, Value slope,
                        Value probabilities) {
  auto type = cast<ShapedType>(x.getType());
  Value zero = b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0f));
  Value isZero =
      b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, probabilities, zero);
  return b.make<arith::SelectOp>(isZero, zero, b.make<arith::MulFOp>(x, slope));
}

Value BackwardWriter::writeProbabilities(Value s, Value lse2, Value work,
                                         Value &slope) {
  Value masked = writeMask(writeScore(s, work, slope), work);
  Values operands{masked, lse2};
  if (args.dropout) {
    operands.push_back(work);
  }
  SmallVector<Type> types{scores};
  bool scales = args.scalesProbabilities() && slope && !hasSlopeOne(op);
  if (scales) {
    operands.push_back(slope);
    types.push_back(scores);
  }
  Values results =
      b.step("exp", operands, types, [&](ValueRange values) -> Values {
        Value factor = b.make<tensor::SplatOp>(exponentScale, scores);
        Value ofRows = b.make<arith::NegFOp>(values[1]);
        if (keepsRoundedP) {
          auto type = cast<RankedTensorType>(ofRows.getType());
          ofRows = b.make<arith::AddFOp>(
              ofRows, b.make<arith::ConstantOp>(
                          DenseElementsAttr::get(type, float(kKeptExponent))));
        }
        Value bias = alongKeys(b, ofRows, scores, owned);
        // An approximation is allowed here: the flag permits `exp2_soft`.
        Value p =
            b.make<math::Exp2Op>(b.make<math::FmaOp>(values[0], factor, bias),
                                 arith::FastMathFlags::afn);
        if (args.dropout) {
          Value kept = args.dropout.writeKept(b, matrix, placeOf(values[2]));
          p = b.make<arith::SelectOp>(kept, p, b.make<arith::NegFOp>(p));
        }
        if (scales) {
          return {p, timesSlope(b, p, values.back(), p)};
        }
        return {p};
      });
  if (args.scalesProbabilities()) {
    slope = scales ? results[1] : Value();
  }
  return results[0];
}

/// Returns the pairs whose probability is not 0 and which dropout keeps.
static Value isPositive(TileBuilder &b, Value probabilities) {
  auto type = cast<ShapedType>(probabilities.getType());
  Value zero = b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0f));
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, probabilities, zero);
}

Value BackwardWriter::writeKept(StringRef step, Value probabilities) {
  if (!args.dropout) {
    return writeRounded(step, probabilities);
  }
  Type type = scores.clone(elementType);
  return b.step(step, probabilities, type, [&](ValueRange values) -> Values {
    Value zero =
        b.make<arith::ConstantOp>(DenseElementsAttr::get(scores, 0.0f));
    return {b.make<arith::TruncFOp>(type,
                                    b.make<arith::MaxNumFOp>(values[0], zero))};
  })[0];
}

/// Returns dP - delta of the pairs, times the factor that undoes the scale of a
/// rounded P.
static Value differenceOf(BackwardWriter &w, Value products, Value delta,
                          Side owned) {
  TileBuilder &b = w.b;
  if (!w.keepsRoundedP) {
    return b.make<arith::SubFOp>(products,
                                 alongKeys(b, delta, w.scores, owned));
  }
  auto type = cast<RankedTensorType>(delta.getType());
  Value none =
      b.make<arith::MulFOp>(b.make<arith::NegFOp>(delta), unscaleP(b, type));
  return b.make<math::FmaOp>(products, unscaleP(b, w.scores),
                             alongKeys(b, none, w.scores, owned));
}

/// The same with dropout, where `probabilities` are negative for pairs that are
/// dropped.
static Value keptDifferenceOf(BackwardWriter &w, Value probabilities,
                              Value products, Value delta, Side owned) {
  TileBuilder &b = w.b;
  Value none = alongKeys(b, b.make<arith::NegFOp>(delta), w.scores, owned);
  Value kept = b.make<math::FmaOp>(
      products, w.args.dropout.spreadFactor(b, w.scores), none);
  Value difference =
      b.make<arith::SelectOp>(isPositive(b, probabilities), kept, none);
  return w.keepsRoundedP
             ? b.make<arith::MulFOp>(difference, unscaleP(b, w.scores))
             : difference;
}

Value BackwardWriter::writeDerivatives(Value probabilities, Value products,
                                       Value delta, Value slope) {
  Values operands{probabilities, products, delta};
  if (slope) {
    operands.push_back(slope);
  }
  return b.step("dsoft", operands, scores, [&](ValueRange values) -> Values {
    Value difference, p = values[0];
    if (p.getType() != scores) {
      p = b.make<arith::ExtFOp>(scores, p);
    }
    if (args.dropout) {
      difference = keptDifferenceOf(*this, p, values[1], values[2], owned);
      p = b.make<math::AbsFOp>(p);
    } else {
      difference = differenceOf(*this, values[1], values[2], owned);
    }
    Value x = b.make<arith::MulFOp>(p, difference);
    if (!slope) {
      return {x};
    }
    return {timesSlope(b, x, values.back(), p)};
  })[0];
}

/// Returns the turn of an item at its block of queries.
static QueryRanges::Turn turnAt(BackwardWriter &w, const Place &at) {
  QueryRanges ranges{w.matrix.ranges, w.op.hasScoreRegion(), w.matrix.repeats};
  Value first = w.matrix.start(Side::Key, at);
  return ranges.turnOf(w.b, {at.block, first, at.batch, at.head},
                       w.matrix.start(Side::Query, at));
}

/// Writes the step before the addition to a block of sums that waits for the
/// turn of this item. The turns of a block of queries are those of the blocks
/// of keys that add to it, in order.
static void waitForTurn(BackwardWriter &w, Value work) {
  w.b.step("wait_dq", work, {}, [&](ValueRange values) -> SmallVector<Value> {
    Place at = w.placeOf(values[0]);
    auto [number, waits] = turnAt(w, at);
    tile::TurnWaitOp::create(w.b, w.b.loc, w.args.turns, at.batch, at.head,
                             w.matrix.start(Side::Query, at), number, waits);
    return {};
  });
}

/// Writes whether the share of this iteration is the first one of its block of
/// queries.
static Value isFirstShare(BackwardWriter &w, Value work) {
  TileBuilder &b = w.b;
  auto [number, waits] = turnAt(w, w.placeOf(work));
  Value no = b.make<arith::ConstantOp>(b.getBoolAttr(false));
  Value isFirst =
      b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, number, b.i32(0));
  Value alone = b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, waits, no);
  return b.make<arith::OrIOp>(isFirst, alone);
}

/// Writes the step after that addition that passes the turn on.
static void passTurn(BackwardWriter &w, Value work) {
  w.b.step("pass_dq", work, {}, [&](ValueRange values) -> SmallVector<Value> {
    Place at = w.placeOf(values[0]);
    tile::TurnPassOp::create(w.b, w.b.loc, w.args.turns, at.batch, at.head,
                             w.matrix.start(Side::Query, at),
                             w.b.add(at.block, w.b.i32(1)));
    return {};
  });
}

void BackwardWriter::addToSums(Value derivatives, Value keys, Value work) {
  Type type = derivatives.getType();
  Value shared =
      b.step("put_ds", derivatives, type, [&](ValueRange values) -> Values {
        return {b.make<tile::ShareOp>(type, values[0])};
      })[0];
  // The rows of the product are queries or, transposed, columns of K.
  bool transposed = op.getTransposed().has_value();
  auto share = matrix.tileType(Side::Query, columnsOf(args.q, args, config),
                               b.getF32Type());
  if (transposed) {
    share = share.clone({share.getDimSize(1), share.getDimSize(0)});
  }
  Value product =
      b.step(transposed ? "mm_dqt" : "mm_dq", {shared, keys}, share,
             [&](ValueRange values) -> Values {
               return {b.make<tile::MmaOp>(share, values[transposed ? 1 : 0],
                                           values[transposed ? 0 : 1], Value(),
                                           /*transpose_b=*/false,
                                           /*transpose_a=*/true)};
             })[0];
  Value added =
      b.step(transposed ? "put_dqt" : "put_dq", product, share,
             [&](ValueRange values) -> Values { return {values[0]}; })[0];
  if (args.turns) {
    waitForTurn(*this, work);
  }
  b.step("red_dq", {added, work}, {}, [&](ValueRange values) -> Values {
    Place at = matrix.place(values[1]);
    AffineMap map = AffineMap::getMultiDimIdentityMap(4, b.getContext());
    Value isFirst = op.getNewSums() ? isFirstShare(*this, values[1]) : Value();
    tile::ReduceAddOp::create(b, b.loc, values[0], args.sums, at.batch,
                              headOf(Side::Query, at),
                              matrix.start(Side::Query, at), Value(), isFirst,
                              map, /*grouped=*/true, transposed);
    return {};
  });
  if (args.turns) {
    passTurn(*this, work);
  }
}

Value BackwardWriter::writeRounded(StringRef step, Value tile) {
  Type type = cast<RankedTensorType>(tile.getType()).clone(elementType);
  return b.step(step, tile, type, [&](ValueRange values) -> Values {
    return {b.make<arith::TruncFOp>(type, values[0])};
  })[0];
}
