// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SumWriter.h"
#include "../CheckList.h"
#include "../TileBuilder.h"
#include "../Tiling/ArgumentList.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

namespace {

/// Elements are numbered in the order of their indices. Each row of a tile is
/// an element of the result; its columns are the elements that are added up to
/// it.
class SumWriter {
public:
  explicit SumWriter(SumGradientOp op)
      : b(op.getLoc()), op(op), config(*op.getConfig()),
        indices(op.getIndices()) {
    b.setInsertionPoint(op->getParentOp());
  }

  tile::KernelOp write(StringRef name);

private:
  using Values = TileBuilder::Values;
  static constexpr unsigned positions = 3; // batch, head, query or key

  void addArgumentsOfSinks(ArgumentList &list);
  tile::KernelOp createKernel(StringRef name);
  void describeLaunches(tile::KernelOp kernel);
  void writeSizes();
  Value writeLoop(Value work, Value iterations);
  Values split(Value number, ArrayRef<Value> sizes);
  Value product(ArrayRef<Value> sizes);
  Value numbers(Value block, int64_t size, unsigned dim, int64_t columns);
  Value startOf(Value work);
  Values indicesOf(Value rows, Value columns);
  Value weightOfSinks(ArrayRef<Value> at, RankedTensorType type);
  Value add(Value sum, Value iteration, Value work);
  void store(Value sum, Value work);

  TileBuilder b;
  SumGradientOp op;
  ConfigAttr config;
  AffineMap indices;
  Value sums, divisor, lse2, sinks, gradient;
  /// The sizes of the result, and of the dimensions that it lacks, as i32.
  SmallVector<Value> kept, summed;
  Value hasSums; // 1, or 0 if `sums` is empty
  SmallVector<unsigned> summedDims;
};

} // namespace

/// Returns the names of the sizes of the sums.
static std::array<std::string, 3> sizesOfSums(SumGradientOp op) {
  if (op.getSinks()) {
    return {names::batches.str(), names::queryHeads.str(), names::rows.str()};
  }
  std::string sums = names::sumsOf(op.getOf());
  return {sizeOf(sums, 0), sizeOf(sums, 1), sizeOf(sums, 2)};
}

/// Returns the names of the sizes of the gradient: those of its capture.
static SmallVector<std::string> sizesOfCapture(SumGradientOp op) {
  if (op.getSinks()) {
    return {names::queryHeads.str()};
  }
  SmallVector<std::string> sizes;
  bool isCapture = !op.getDivisor() && !isReservedName(op.getOf());
  int64_t rank = isCapture ? op.getGradient().getType().getRank() : 0;
  for (int64_t dim : llvm::seq(rank)) {
    sizes.push_back(sizeOf(op.getOf(), dim));
  }
  return sizes;
}

/// Writes sizes, as i32.
void SumWriter::writeSizes() {
  for (unsigned dim : llvm::seq(indices.getNumResults())) {
    kept.push_back(b.sizeOf(gradient, dim));
  }
  hasSums = b.i32(1);
  for (unsigned dim : llvm::seq(positions)) {
    Value count = b.sizeOf(sums, dim);
    hasSums = b.min(hasSums, count);
    if (!indices.isFunctionOfDim(dim)) {
      summedDims.push_back(dim);
      summed.push_back(count);
    }
  }
}

Value SumWriter::product(ArrayRef<Value> sizes) {
  Value product = b.i32(1);
  for (Value size : sizes) {
    product = b.mul(product, size);
  }
  return product;
}

/// Returns the indices of elements, a tile, from their numbers. If a number is
/// too large, so is its first index.
SumWriter::Values SumWriter::split(Value number, ArrayRef<Value> sizes) {
  Values result(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 1;) {
    Value size = b.like(sizes[dim], number);
    result[dim] = b.make<arith::RemUIOp>(number, size);
    number = b.make<arith::DivUIOp>(number, size);
  }
  if (!sizes.empty()) {
    result[0] = number;
  }
  return result;
}

/// Returns the numbers along `dim` of a tile with so many columns: from
/// `block` times `size`.
Value SumWriter::numbers(Value block, int64_t size, unsigned dim,
                         int64_t columns) {
  auto type =
      RankedTensorType::get({config.getTileM(), columns}, b.getI32Type());
  return b.make<tile::CoordsOp>(type, b.mul(block, b.i32(size)), dim);
}

Value SumWriter::startOf(Value work) {
  return tile::WorkCoordsOp::create(b, b.loc, work).getBlock();
}

/// Returns the indices of the sums that are added: those of elements that do
/// not exist are out of bounds.
SumWriter::Values SumWriter::indicesOf(Value rows, Value columns) {
  Values ofResult = split(rows, kept), ofSummed = split(columns, summed);
  Values result(positions);
  for (auto [dim, index] : llvm::zip(summedDims, ofSummed)) {
    result[dim] = index;
  }
  Value zero = b.like(b.i32(0), rows), none = b.like(b.i32(-1), rows);
  Value exists;
  auto demand = [&](Value index) {
    Value is = b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, index, zero);
    exists = exists ? b.make<arith::AndIOp>(exists, is) : is;
  };
  for (auto [index, value] : llvm::zip(indices.getResults(), ofResult)) {
    if (auto position = dyn_cast<AffineDimExpr>(index)) {
      result[position.getPosition()] = value;
    } else {
      demand(value);
    }
  }
  if (summed.empty()) {
    demand(columns);
  }
  if (exists) {
    result[0] = b.make<arith::SelectOp>(exists, result[0], none);
  }
  return result;
}

/// Returns minus the probabilities of the sinks at elements. For an element
/// that does not exist this is any number from -1 to 0; its delta is 0.
Value SumWriter::weightOfSinks(ArrayRef<Value> at, RankedTensorType type) {
  auto fill = [&](double value) {
    return b.make<arith::ConstantOp>(
        DenseElementsAttr::get(type, float(value)));
  };
  Value sink = b.make<tile::GatherOp>(type, sinks, at[1]);
  Value score = b.make<arith::MulFOp>(sink, fill(llvm::numbers::log2e));
  Value lse = b.make<tile::GatherOp>(type, lse2, at);
  Value exponent =
      b.make<arith::MinimumFOp>(b.make<arith::SubFOp>(score, lse), fill(0));
  return b.make<arith::NegFOp>(b.make<math::Exp2Op>(exponent));
}

Value SumWriter::add(Value sum, Value iteration, Value work) {
  Type rows = sum.getType();
  return b.step("add", {sum, work}, rows, [&](ValueRange values) -> Values {
    int64_t n = config.getTileN();
    Value ofRows = numbers(startOf(values[1]), config.getTileM(), 0, n);
    Value ofColumns = numbers(iteration, n, 1, n);
    auto type = RankedTensorType::get({config.getTileM(), n}, b.getF32Type());
    Values at = indicesOf(ofRows, ofColumns);
    Value some = b.make<tile::GatherOp>(type, sums, at);
    if (sinks) {
      some = b.make<arith::MulFOp>(some, weightOfSinks(at, type));
    }
    Value own = b.make<tile::ReduceOp>(rows, tile::ReduceKind::Add, some,
                                       /*dim=*/1, /*partial=*/true);
    return {b.make<arith::AddFOp>(values[0], own)};
  })[0];
}

/// Stores the first column of a tile whose columns all hold the sums.
void SumWriter::store(Value sum, Value work) {
  constexpr int64_t columns = 16;
  b.step("st", {sum, work}, {}, [&](ValueRange values) -> Values {
    auto type =
        RankedTensorType::get({config.getTileM(), columns}, b.getF32Type());
    Value total = values[0];
    if (divisor) {
      total = b.make<arith::DivFOp>(total, b.like(divisor, total));
    }
    Value tile = b.make<tile::BroadcastOp>(type, total, /*dim=*/1);
    Value number = numbers(startOf(values[1]), config.getTileM(), 0, columns);
    Value column = numbers(b.i32(0), columns, 1, columns);
    Values where = split(number, kept);
    Value isFirst = b.make<arith::CmpIOp>(arith::CmpIPredicate::eq, column,
                                          b.like(b.i32(0), column));
    where[0] =
        b.make<arith::SelectOp>(isFirst, where[0], b.like(b.i32(-1), column));
    tile::ScatterOp::create(b, b.loc, tile, gradient, where, /*add=*/false);
    return {};
  });
}

/// Requires of a launch: the elements that are summed have 32-bit numbers.
void SumWriter::describeLaunches(tile::KernelOp kernel) {
  CheckList checks(b.getContext());
  std::array<std::string, positions> sizes = sizesOfSums(op);
  Attribute count;
  for (unsigned dim : llvm::seq(positions)) {
    if (!indices.isFunctionOfDim(dim)) {
      Attribute size = checks.expression(sizes[dim]);
      count = count ? checks.apply(LaunchOp::Mul, count, size) : size;
    }
  }
  if (count) {
    checks.require(checks.apply(LaunchOp::Lt, count, kItemLimit),
                   "expected each element of the gradient of '" + op.getOf() +
                       "' to have fewer than " + Twine(kItemLimit) +
                       " rows of batches, heads, and queries or keys");
  }
  checks.addTo(kernel);
}

/// Adds the arguments that the gradient of sinks is made from.
void SumWriter::addArgumentsOfSinks(ArgumentList &list) {
  StringRef ofRows[] = {names::batches, names::queryHeads, names::rows};
  list.add(sums, names::delta, ArgumentRole::Delta, op.getSums(), ofRows);
  list.add(lse2, names::lse2, ArgumentRole::Lse2, op.getLse2(), ofRows);
  list.add(sinks, names::sinks, ArgumentRole::Sinks, op.getSinks(),
           {names::queryHeads});
}

tile::KernelOp SumWriter::createKernel(StringRef name) {
  FailureOr<ArgumentNames> names =
      ArgumentNames::of(cast<func::FuncOp>(op->getParentOp()), ValueRange());
  ArgumentList list(b.getContext(), std::move(*names), 0, 0);
  if (op.getSinks()) {
    addArgumentsOfSinks(list);
  } else {
    list.add(sums, names::sumsOf(op.getOf()), ArgumentRole::PartialSums,
             op.getSums());
  }
  if (op.getDivisor()) {
    list.addScale(divisor, op.getDivisor());
  }
  SmallVector<std::string> sizes = sizesOfCapture(op);
  list.addResult(gradient, names::gradientOf(op.getOf()),
                 ArgumentRole::CaptureGradient, op.getGradient(),
                 SmallVector<StringRef>(sizes.begin(), sizes.end()));
  return list.createKernel(
      b, b.loc, name, op.getProblem(), config,
      [&](tile::KernelOp kernel) { describeLaunches(kernel); });
}

/// Writes the loop over the elements that are summed, and returns the shares of
/// the sums that each lane has.
Value SumWriter::writeLoop(Value work, Value iterations) {
  Type i32 = b.getI32Type();
  auto bounds = tile::BoundsOp::create(b, b.loc, {i32, i32}, work);
  b.fill(bounds.getBody().emplaceBlock(), work.getType(),
         [&](ValueRange) -> Values { return {iterations, b.i32(0)}; });
  auto rows = RankedTensorType::get({config.getTileM()}, b.getF32Type());
  Value zero = b.make<arith::ConstantOp>(DenseElementsAttr::get(rows, 0.0f));
  auto all =
      tile::RangeAttr::get(b.getContext(), tile::RangeKind::Full, std::nullopt);
  auto ranges =
      tile::RangesAttr::get(b.getContext(), tile::Direction::Down, {all});
  auto loop =
      tile::ForOp::create(b, b.loc, rows, bounds.getResults(), ranges, zero);
  OpBuilder::InsertionGuard guard(b);
  Block &body = loop.getBody().emplaceBlock();
  Value iteration = body.addArgument(i32, b.loc);
  Value sum = body.addArgument(rows, b.loc);
  b.setInsertionPointToStart(&body);
  tile::YieldOp::create(b, b.loc, add(sum, iteration, work));
  return loop.getResult(0);
}

tile::KernelOp SumWriter::write(StringRef name) {
  tile::KernelOp kernel = createKernel(name);
  writeSizes();
  Value blocks = b.ceilDiv(product(kept), b.i32(config.getTileM()));
  Value iterations = b.ceilDiv(product(summed), b.i32(config.getTileN()));
  // Without sums there is no memory to read, not even at index 0.
  iterations = b.mul(iterations, hasSums);
  Value one = b.i32(1);
  Value work = b.beginWork(blocks, one, one);
  Value shares = writeLoop(work, iterations);
  Type rows = shares.getType();
  Value total = b.step("total", shares, rows, [&](ValueRange values) -> Values {
    return {b.make<tile::CompleteOp>(rows, values[0])};
  })[0];
  store(total, work);
  return kernel;
}

tile::KernelOp attn::writeSumKernel(SumGradientOp op, StringRef name) {
  return SumWriter(op).write(name);
}
