// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that finds which queries may see a group of keys: a work item owns
// a block of groups and streams one share of the queries. A row of its tiles is
// a group, and a column a query. Only numbers of queries and of keys are
// computed, none of pairs.
#include "../ScoreLifter.h"
#include "../Tiling/ArgumentList.h"
#include "../Tiling/KeyEquality.h"
#include "../Tiling/KeyRanges.h"
#include "../Tiling/LaunchConditions.h"
#include "BackwardWriter.h"

using namespace mlir;
using namespace attn;

using Values = TileBuilder::Values;

namespace {

class SeeingWriter {
public:
  explicit SeeingWriter(AttentionBwdOp op)
      : b(op.getLoc()), op(op), config(*op.getConfig()),
        rows(RankedTensorType::get({config.getTileM()}, b.getF32Type())) {
    b.setInsertionPoint(op->getParentOp());
  }

  tile::KernelOp write(StringRef name, ArgumentNames names);

private:
  tile::KernelOp createKernel(StringRef name, ArgumentNames names);
  void writeSizes();
  Values writeHull(Value work);
  tile::ForOp writeLoop(Value work, ValueRange hull);
  Values see(ValueRange hull, ValueRange sums, Value work, Value iteration);
  Value writeAdmitted(const Queries &queries, Value firstKey, Value lastKey);
  Value numberOf(const Queries &queries);
  Value isInHull(Value number, ValueRange hull);
  Values seeAll(ValueRange hull, ValueRange run, Value isEqual,
                Value iteration);
  void store(ValueRange sums, Value work);

  /// Returns a number of the mask region as a float; equal ones stay equal.
  Value lift(Value number, Value batch, Value queries, Value keys,
             ArrayRef<int64_t> shape);
  /// Returns the group of each row of a tile with so many columns.
  Value groups(tile::WorkCoordsOp at, int64_t columns);
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return b.make<arith::CmpFOp>(predicate, x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.make<arith::CmpIOp>(predicate, x, y);
  }
  Value both(Value x, Value y) { return b.make<arith::AndIOp>(x, y); }
  Value splat(float number, ShapedType type) {
    return b.make<arith::ConstantOp>(DenseElementsAttr::get(type, number));
  }
  RankedTensorType tileOf(int64_t columns, Type element) {
    return RankedTensorType::get({config.getTileM(), columns}, element);
  }

  TileBuilder b;
  AttentionBwdOp op;
  ConfigAttr config;
  RankedTensorType rows;
  KeyEquality equality;
  KeyRanges ranges;
  Value q, k, seeing; // arguments
  SmallVector<Value> bounds, captures;
  Value batches, blocks; // batches, and blocks of queries
};

/// No block has this number.
constexpr float none = 1 << 26;

} // namespace

Value SeeingWriter::lift(Value number, Value batch, Value queries, Value keys,
                         ArrayRef<int64_t> shape) {
  Region copy;
  IRMapping map;
  op.getMaskRegion().cloneInto(&copy, map);
  copy.front().getTerminator()->setOperands(map.lookup(number));
  eraseDead(copy.front());
  Values arguments{batch, Value(), queries, keys};
  llvm::append_range(arguments, captures);
  Value lifted = ScoreLifter(b, shape).lift(copy, arguments)[0];
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return b.make<arith::SIToFPOp>(type, lifted);
}

Value SeeingWriter::groups(tile::WorkCoordsOp at, int64_t columns) {
  return b.make<tile::CoordsOp>(tileOf(columns, b.getI32Type()),
                                b.mul(at.getBlock(), b.i32(config.getTileM())),
                                /*dim=*/0);
}

/// Writes the least and the most of the numbers of the keys of each group.
/// Groups after the last key have its number.
Values SeeingWriter::writeHull(Value work) {
  return b.step("hull", work, {rows, rows}, [&](ValueRange values) -> Values {
    if (!equality) {
      return {splat(0, rows), splat(0, rows)};
    }
    auto at = tile::WorkCoordsOp::create(b, b.loc, values[0]);
    auto type = tileOf(kSeenKeys, b.getI32Type());
    Value group = groups(at, kSeenKeys);
    Value first = b.mul(group, b.like(b.i32(kSeenKeys), group));
    Value key = b.add(first, b.make<tile::CoordsOp>(type, b.i32(0), /*dim=*/1));
    Value last = b.sub(ranges.key.length, b.i32(1));
    key = b.min(key, b.like(last, key));
    Value number =
        lift(equality.ofKey, at.getBatch(), Value(), key, type.getShape());
    auto most = [&](Value of) {
      return b.make<tile::ReduceOp>(rows, tile::ReduceKind::Max, of, /*dim=*/1,
                                    /*partial=*/false);
    };
    Value least = most(b.make<arith::NegFOp>(number));
    return {b.make<arith::NegFOp>(least), most(number)};
  });
}

/// Whether `row_keys` of the queries contain one of the keys of the group.
Value SeeingWriter::writeAdmitted(const Queries &queries, Value firstKey,
                                  Value lastKey) {
  RowEnds ends = ranges.liftRowKeys(b, queries);
  Value admitted = both(compare(arith::CmpIPredicate::sle, ends.first, lastKey),
                        compare(arith::CmpIPredicate::sgt, ends.end, firstKey));
  if (!ends.prefix) {
    return admitted;
  }
  return b.make<arith::OrIOp>(
      admitted, compare(arith::CmpIPredicate::sgt, ends.prefix, firstKey));
}

Value SeeingWriter::numberOf(const Queries &queries) {
  auto type = tileOf(config.getTileN(), b.getF32Type());
  return equality ? lift(equality.ofQuery, queries.batch, queries.positions,
                         Value(), type.getShape())
                  : splat(0, type);
}

Value SeeingWriter::isInHull(Value number, ValueRange hull) {
  auto wide = [&](Value of) {
    return b.make<tile::BroadcastOp>(number.getType(), of, /*dim=*/1);
  };
  return both(compare(arith::CmpFPredicate::OGE, number, wide(hull[0])),
              compare(arith::CmpFPredicate::OLE, number, wide(hull[1])));
}

/// Writes the new run of blocks whose queries all see all keys of the group,
/// from its first block to its end. The loop comes from the last block: the run
/// grows downwards, and blocks after a gap are left out.
Values SeeingWriter::seeAll(ValueRange hull, ValueRange run, Value isEqual,
                            Value iteration) {
  if (!equality.isAll || ranges.rowKeys.region) {
    return llvm::to_vector(run);
  }
  // Larger numbers may be rounded, so that others are equal to them.
  constexpr float exact = 1 << 24;
  auto type = cast<RankedTensorType>(isEqual.getType()).clone(b.getF32Type());
  Value others = b.make<tile::ReduceOp>(
      rows, tile::ReduceKind::Max,
      b.make<arith::SelectOp>(isEqual, splat(0, type), splat(1, type)),
      /*dim=*/1, /*partial=*/false);
  using Predicate = arith::CmpFPredicate;
  Value isOne = compare(Predicate::OEQ, hull[0], hull[1]);
  Value isExact = both(compare(Predicate::OGT, hull[0], splat(-exact, rows)),
                       compare(Predicate::OLT, hull[1], splat(exact, rows)));
  Value seesAll = both(compare(Predicate::OEQ, others, splat(0, rows)),
                       both(isOne, isExact));
  // The same is true of the numbers of iterations.
  Value few =
      compare(arith::CmpIPredicate::slt, iteration, b.i32(int64_t(exact) - 1));
  seesAll =
      both(seesAll, b.make<tensor::SplatOp>(few, rows.clone(few.getType())));
  auto number = [&](Value of) -> Value {
    return b.make<tensor::SplatOp>(b.make<arith::SIToFPOp>(b.getF32Type(), of),
                                   rows);
  };
  Value own = number(iteration), end = number(b.add(iteration, b.i32(1)));
  Value begins = compare(Predicate::OEQ, run[1], splat(0, rows));
  Value follows = compare(Predicate::OEQ, run[0], end);
  Value grows = both(seesAll, b.make<arith::OrIOp>(begins, follows));
  return {b.make<arith::SelectOp>(grows, own, run[0]),
          b.make<arith::SelectOp>(both(seesAll, begins), end, run[1])};
}

/// Writes the new numbers of the first and the last block, and of the run.
/// Numbers of the first two from 2^24 on are rounded, by at most 1.
Values SeeingWriter::see(ValueRange hull, ValueRange sums, Value work,
                         Value iteration) {
  auto at = tile::WorkCoordsOp::create(b, b.loc, work);
  int64_t columns = config.getTileN();
  auto type = tileOf(columns, b.getF32Type());
  Value positions =
      b.make<tile::CoordsOp>(tileOf(columns, b.getI32Type()),
                             b.mul(iteration, b.i32(columns)), /*dim=*/1);
  Queries queries{positions, at.getBatch(), b.i32(0)};
  Value inside = compare(arith::CmpIPredicate::slt, positions,
                         b.like(ranges.query.length, positions));
  Value mayBeSeen = both(inside, isInHull(numberOf(queries), hull));
  Values run = seeAll(hull, sums.drop_front(2), mayBeSeen, iteration);
  if (ranges.rowKeys.region) {
    Value group = groups(at, columns);
    Value first = b.mul(group, b.like(b.i32(kSeenKeys), group));
    Value last = b.add(first, b.like(b.i32(kSeenKeys - 1), group));
    mayBeSeen = both(mayBeSeen, writeAdmitted(queries, first, last));
  }
  Value found = b.make<tile::ReduceOp>(
      rows, tile::ReduceKind::Max,
      b.make<arith::SelectOp>(mayBeSeen, splat(1, type), splat(0, type)),
      /*dim=*/1, /*partial=*/false);
  Value isFound = compare(arith::CmpFPredicate::OGT, found, splat(0, rows));
  Value apart = b.make<arith::ShRUIOp>(iteration, b.i32(23));
  Value first = b.sub(apart, iteration);
  Value past = b.add(b.add(iteration, b.i32(1)), apart);
  Values results;
  for (auto [number, sum] : llvm::zip_first(Values{first, past}, sums)) {
    Value own = b.make<tensor::SplatOp>(
        b.make<arith::SIToFPOp>(b.getF32Type(), number), rows);
    Value larger = b.make<arith::MaxNumFOp>(sum, own);
    results.push_back(b.make<arith::SelectOp>(isFound, larger, sum));
  }
  results.append(run);
  return results;
}

/// Writes the loop over the blocks of queries of a share.
tile::ForOp SeeingWriter::writeLoop(Value work, ValueRange hull) {
  Type i32 = b.getI32Type();
  auto bounds = tile::BoundsOp::create(b, b.loc, {i32, i32}, work);
  b.fill(bounds.getBody().emplaceBlock(), work.getType(),
         [&](ValueRange values) -> Values {
           auto at = tile::WorkCoordsOp::create(b, b.loc, values[0]);
           Value each = b.ceilDiv(blocks, b.i32(kSeeingShares));
           Value begin = b.min(b.mul(at.getHead(), each), blocks);
           return {b.min(b.add(begin, each), blocks), begin};
         });
  auto all =
      tile::RangeAttr::get(b.getContext(), tile::RangeKind::Full, std::nullopt);
  auto down =
      tile::RangesAttr::get(b.getContext(), tile::Direction::Down, {all});
  Values inits{splat(-none, rows), splat(0, rows), splat(0, rows),
               splat(0, rows)};
  auto loop = tile::ForOp::create(b, b.loc, ValueRange(inits).getTypes(),
                                  bounds.getResults(), down, inits);
  OpBuilder::InsertionGuard guard(b);
  Block &body = loop.getBody().emplaceBlock();
  Value iteration = body.addArgument(i32, b.loc);
  Values operands(hull);
  SmallVector<Type> types(inits.size(), rows);
  for (Type type : types) {
    operands.push_back(body.addArgument(type, b.loc));
  }
  operands.push_back(work);
  b.setInsertionPointToStart(&body);
  Values next =
      b.step("see", operands, types, [&](ValueRange values) -> Values {
        return see(values.take_front(2), values.drop_front(2).drop_back(),
                   values.back(), iteration);
      });
  tile::YieldOp::create(b, b.loc, next);
  return loop;
}

/// Stores the first columns of a tile: one for each of the numbers.
void SeeingWriter::store(ValueRange sums, Value work) {
  constexpr int64_t columns = 16;
  Values operands(sums);
  operands.push_back(work);
  b.step("st", operands, {}, [&](ValueRange values) -> Values {
    auto at = tile::WorkCoordsOp::create(b, b.loc, values.back());
    auto type = tileOf(columns, b.getF32Type());
    Value group = groups(at, columns);
    Value column = b.make<tile::CoordsOp>(tileOf(columns, b.getI32Type()),
                                          b.i32(0), /*dim=*/1);
    auto number = [&](int64_t of) { return b.like(b.i32(of), column); };
    Value tile, past = number(values.size() - 1);
    for (auto [n, value] : llvm::enumerate(values.drop_back())) {
      Value wide = b.make<tile::BroadcastOp>(type, value, /*dim=*/1);
      Value isColumn =
          compare(arith::CmpIPredicate::eq, column, number(int64_t(n)));
      tile = tile ? b.make<arith::SelectOp>(isColumn, wide, tile) : wide;
    }
    Value row = b.add(b.mul(column, number(kSeeingShares)),
                      b.like(at.getHead(), column));
    Value which = b.make<arith::SelectOp>(
        compare(arith::CmpIPredicate::slt, column, past), row, number(-1));
    tile::ScatterOp::create(b, b.loc, tile, seeing,
                            Values{at.getBatch(), which, group},
                            /*add=*/false);
    return {};
  });
}

tile::KernelOp SeeingWriter::createKernel(StringRef name, ArgumentNames names) {
  using namespace attn::names;
  using Role = ArgumentRole;
  ArgumentList list(b.getContext(), std::move(names), op.getPositionDim(),
                    op.getHeadsDim());
  list.add(q, attn::names::q, Role::Query, op.getQuery(),
           list.dimsOf(queries, queryHeads, dim));
  list.add(k, attn::names::k, Role::Key, op.getKey(),
           list.dimsOf(keys, keyHeads, dim));
  list.addBounds(bounds, op.getBoundKinds(), op.getBounds());
  list.addCaptures(captures, op.getCaptures());
  list.addResult(seeing, attn::names::seeing, Role::SeeingQueries,
                 op.getResult(0), {});
  return list.createKernel(b, b.loc, name, op.getProblem(), config,
                           describeLaunches);
}

/// Writes sizes, as i32.
void SeeingWriter::writeSizes() {
  batches = b.sizeOf(q, 0);
  ranges.query.length = b.sizeOf(q, op.getPositionDim());
  ranges.key.length = b.sizeOf(k, op.getPositionDim());
  ranges.rowKeys = RowKeysRegion::of(op, captures);
  blocks = b.ceilDiv(ranges.query.length, b.i32(config.getTileN()));
}

tile::KernelOp SeeingWriter::write(StringRef name, ArgumentNames names) {
  equality = KeyEquality::find(op.getMaskRegion());
  tile::KernelOp kernel = createKernel(name, std::move(names));
  writeSizes();
  Value groups = b.ceilDiv(ranges.key.length, b.i32(kSeenKeys));
  Value work = b.beginWork(b.ceilDiv(groups, b.i32(config.getTileM())),
                           b.i32(kSeeingShares), batches);
  Values hull = writeHull(work);
  tile::ForOp loop = writeLoop(work, hull);
  store(loop.getResults(), work);
  return kernel;
}

tile::KernelOp attn::writeSeeingKernel(AttentionBwdOp op, StringRef name,
                                       ArgumentNames names) {
  return SeeingWriter(op).write(name, std::move(names));
}
