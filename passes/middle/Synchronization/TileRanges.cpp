// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileRanges.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

/// Returns the rank of a tile in registers; nothing for scalars.
static std::optional<int64_t> rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional(type.getRank()) : std::nullopt;
}

static bool areSame(const TileStart &a, const TileStart &b) {
  return a.at == b.at && (!a.of || !b.of || *a.of == *b.of);
}

/// Returns "from 64 of batch 3 and head 2".
static std::string describe(const TileStart &start) {
  std::string text = llvm::formatv("from {0}", start.at);
  if (start.of) {
    text += llvm::formatv(" of batch {0} and head {1}", start.of->first,
                          start.of->second);
  }
  return text;
}

/// Returns the row of a tensor that an op reads or writes, with its batch and
/// head.
template <typename Op>
static FailureOr<TileStart> rowOf(Op op, SyncNumbers &at) {
  FailureOr<int64_t> row = at.coordinate(op.getRow(), op);
  FailureOr<int64_t> batch = at.coordinate(op.getBatch(), op);
  FailureOr<int64_t> head = at.coordinate(op.getHead(), op);
  if (failed(row) || failed(batch) || failed(head)) {
    return failure();
  }
  return TileStart{*row, std::make_pair(*batch, *head)};
}

/// Returns the distance from `row` to that of the next row block with the same
/// batch and head: several heads may share the row blocks. Nothing if each row
/// block has its own head.
template <typename Op>
static FailureOr<std::optional<int64_t>>
toNextItem(Op op, const TileStart &start, SyncNumbers &at) {
  constexpr int64_t mostHeads = 64;
  for (int64_t later = 1; later <= mostHeads; ++later) {
    FailureOr<int64_t> row = at.laterCoordinate(op.getRow(), later, op);
    FailureOr<int64_t> batch = at.laterCoordinate(op.getBatch(), later, op);
    FailureOr<int64_t> head = at.laterCoordinate(op.getHead(), later, op);
    if (failed(row) || failed(batch) || failed(head)) {
      return failure();
    }
    if (start.of == std::make_pair(*batch, *head)) {
      return std::optional(std::abs(*row - start.at));
    }
  }
  return std::optional<int64_t>();
}

/// Returns the largest distance from `row` to the one of the next iteration of
/// a loop around `op`.
static FailureOr<int64_t> toNextIteration(Operation *op, Value row, int64_t now,
                                          SyncNumbers &at) {
  int64_t most = 0;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<int64_t> index = at.tryEvaluate(loop.getInductionVar());
    if (!index) {
      continue;
    }
    at.set(loop.getInductionVar(), *index + 1);
    FailureOr<int64_t> next = at.coordinate(row, op);
    at.set(loop.getInductionVar(), *index);
    if (failed(next)) {
      return failure();
    }
    most = std::max(most, std::abs(*next - now));
  }
  return most;
}

/// Returns the part of partial results that an op writes.
static Value partOf(Operation *op) {
  auto store = dyn_cast<tile::StoreRegOp>(op);
  return store ? store.getPart() : Value();
}

/// Records that `op` wrote rows of `type`, or added to them.
template <typename Op>
static LogicalResult noteWritten(Op op, RankedTensorType type, int item,
                                 const TileStart &start, WrittenRows &written,
                                 SyncNumbers &at) {
  FailureOr<std::optional<int64_t>> nextItem = toNextItem(op, start, at);
  FailureOr<int64_t> nextIteration =
      toNextIteration(op, op.getRow(), start.at, at);
  FailureOr<int64_t> toNextHead =
      toNextIteration(op, op.getHead(), start.of->second, at);
  FailureOr<int64_t> part = 0;
  if (Value number = partOf(op)) {
    part = at.coordinate(number, op);
  }
  if (failed(nextItem) || failed(nextIteration) || failed(toNextHead) ||
      failed(part)) {
    return failure();
  }
  written.note({op.getDest().getAsOpaquePointer(),
                item,
                {*part, start.of->first, start.of->second},
                start.at,
                type.getDimSize(0),
                {at.run.of.role.getAsOpaquePointer(), at.run.of.replica},
                *nextItem,
                *nextIteration,
                *toNextHead > 0});
  return success();
}

/// Merges `from` into `to`. Returns the dimension along which they have
/// different elements, if any.
static std::optional<size_t> addRange(TileRange &to, const TileRange &from) {
  to.starts.resize(std::max(to.starts.size(), from.starts.size()));
  for (auto [dim, start] : llvm::enumerate(from.starts)) {
    if (start && to.starts[dim] && !areSame(*start, *to.starts[dim])) {
      return dim;
    }
    if (start && (!to.starts[dim] || start->of)) {
      to.starts[dim] = start;
    }
  }
  to.sawSame |= from.sawSame;
  llvm::append_range(to.summed, from.summed);
  llvm::sort(to.summed);
  to.summed.erase(llvm::unique(to.summed), to.summed.end());
  return std::nullopt;
}

static LogicalResult combineInto(TileRange &to, const TileRange &from,
                                 Operation *op, const SyncNumbers &at) {
  TileRange before = to;
  std::optional<size_t> dim = addRange(to, from);
  if (!dim) {
    return success();
  }
  return at.run.error(op) << "V28: expected tiles of the same elements along "
                             "dimension "
                          << *dim << ", got " << describe(*before.starts[*dim])
                          << " and " << describe(*from.starts[*dim]);
}

static std::optional<TileStart> startOf(const TileRange &range, size_t dim) {
  return dim < range.starts.size() ? range.starts[dim] : std::nullopt;
}

static bool isTile(const TileRange &range) {
  return !range.starts.empty() &&
         llvm::all_of(range.starts, [](auto start) { return start; });
}

/// Vectors that are broadcast to a tile scale it, and do not contribute the
/// blocks that they have summed. Returns whether all operands that are not
/// constant are broadcast.
static bool dropSumsOfSpread(SmallVectorImpl<TileRange> &operands) {
  bool anyTile = llvm::any_of(operands, [](const TileRange &range) {
    return !range.isConstant() && !range.isSpread;
  });
  for (TileRange &range : operands) {
    if (anyTile && range.isSpread) {
      range.summed.clear();
      range.sawSame = false;
    }
  }
  return !anyTile && llvm::any_of(operands, [](const TileRange &range) {
    return range.isSpread;
  });
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult TileRanges::visitCopy(ws::CopyOp copy, SyncNumbers &at) {
  FailureOr<TileStart> row = rowOf(copy, at);
  if (failed(row)) {
    return failure();
  }
  const SyncStep &step = at.run.steps.back();
  contents.rows[{cta, step.event->object, step.number}] = *row;
  return success();
}

/// The elements of a row vector are those that the copy into its slot loaded.
void TileRanges::visitReadRow(ws::ReadRowOp read, SyncNumbers &at) {
  const SyncStep &step = at.run.steps.back();
  TileRange range;
  if (auto rows = contents.rows.find({cta, step.event->object, step.number});
      rows != contents.rows.end()) {
    range.starts.emplace_back(rows->second);
  }
  ranges[read.getTile()] = range;
}

void TileRanges::visitPut(ws::PutOp put, SyncNumbers &at) {
  const SyncStep &step = at.run.steps.back();
  contents.puts[{cta, step.event->object, step.number, step.item}] = {
      rangeOf(put.getValue()), lowest, pastHighest};
  auto kernel = put->getParentOfType<ws::KernelOp>();
  auto hold = kernel.lookupSymbol<ws::HoldOp>(put.getHold());
  lastPuts[{step.event->object, step.item}] = {
      rangeOf(put.getValue()), step.number % int64_t(hold.getPieces()),
      cast<RankedTensorType>(hold.getType()).getDimSize(0)};
}

LogicalResult TileRanges::visitStore(ws::StoreOp store, SyncNumbers &at) {
  FailureOr<TileStart> row = rowOf(store, at);
  if (failed(row)) {
    return failure();
  }
  const SyncStep &step = at.run.steps.back();
  auto kernel = store->getParentOfType<ws::KernelOp>();
  auto hold = kernel.lookupSymbol<ws::HoldOp>(store.getHold());
  contents.stores.push_back(
      {store, {cta, step.event->object, step.number, step.item}, *row});
  return noteWritten(store, cast<RankedTensorType>(hold.getType()), step.item,
                     *row, contents.written, at);
}

/// Whether the kernel has a loop over blocks.
static bool hasLoop(ws::KernelOp kernel) {
  return kernel.walk([](tile::BoundsOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Checks that a stored tile belongs to the rows that it is stored to, and, in
/// a kernel with a loop, that it has summed each block.
static LogicalResult checkStored(const TileContents::Put &put, TileStart row,
                                 bool hasLoop,
                                 function_ref<InFlightDiagnostic()> emitError) {
  TileStart start = startOf(put.range, 0).value_or(row);
  if (!areSame(start, row)) {
    return emitError() << "V28: expected a tile to be stored where its rows "
                          "are, "
                       << describe(start) << ", got " << describe(row);
  }
  if (hasLoop && !put.range.sawSame &&
      !llvm::equal(put.range.summed, llvm::seq(put.lowest, put.pastHighest))) {
    InFlightDiagnostic error = emitError();
    error << "V28: expected what is stored to have seen blocks " << put.lowest
          << " up to " << put.pastHighest << ", got [";
    llvm::interleaveComma(put.range.summed, error);
    return error << "]";
  }
  return success();
}

LogicalResult TileContents::checkStores(ws::KernelOp kernel,
                                        ArrayRef<SyncItem> items) const {
  for (const Stored &stored : stores) {
    auto put = puts.find(stored.piece);
    if (put == puts.end()) {
      continue; // nothing was put there: V8
    }
    auto emitError = [&] { return emitSyncError(stored.op, items); };
    if (failed(
            checkStored(put->second, stored.row, hasLoop(kernel), emitError))) {
      return failure();
    }
  }
  return written.check(kernel, items);
}

template <typename StoreOp>
LogicalResult TileRanges::visitStoreOf(StoreOp store, SyncNumbers &at) {
  FailureOr<TileStart> row = rowOf(store, at);
  if (failed(row)) {
    return failure();
  }
  auto tile = dyn_cast<RankedTensorType>(store.getTile().getType());
  if (tile && failed(noteWritten(store, tile, at.run.item, *row,
                                 contents.written, at))) {
    return failure();
  }
  return checkStored({rangeOf(store.getTile()), lowest, pastHighest}, *row,
                     hasLoop(store->template getParentOfType<ws::KernelOp>()),
                     [&] { return at.run.error(store); });
}

/// Records which rows are added to; the values that are added are not followed.
static LogicalResult noteAdded(tile::ReduceAddOp add, WrittenRows &written,
                               SyncNumbers &at) {
  FailureOr<TileStart> row = rowOf(add, at);
  if (failed(row)) {
    return failure();
  }
  auto tile = dyn_cast<RankedTensorType>(add.getTile().getType());
  if (tile && add.getTransposed()) {
    tile = tile.clone({tile.getDimSize(1), tile.getDimSize(0)});
  }
  return tile ? noteWritten(add, tile, at.run.item, *row, written, at)
              : success();
}

static LogicalResult noteAdded(ws::ReduceAddOp add, WrittenRows &written,
                               SyncNumbers &at) {
  FailureOr<TileStart> row = rowOf(add, at);
  auto kernel = add->getParentOfType<ws::KernelOp>();
  auto hold = kernel.lookupSymbol<ws::HoldOp>(add.getHold());
  auto tile = cast<RankedTensorType>(hold.getType());
  if (add.getTransposed()) {
    tile = tile.clone({tile.getDimSize(1), tile.getDimSize(0)});
  }
  return failed(row) ? failure()
                     : noteWritten(add, tile, at.run.steps.back().item, *row,
                                   written, at);
}

/// A part of partial results counts as the block of its number.
template <typename LoadOp>
LogicalResult TileRanges::visitLoad(LoadOp load, SyncNumbers &at) {
  FailureOr<TileStart> row = rowOf(load, at);
  if (failed(row)) {
    return failure();
  }
  TileRange range;
  range.starts.emplace_back(*row);
  if (rankOf(load.getTile()) == 2) {
    range.starts.push_back(TileStart{0});
  }
  if (load.getPart()) {
    FailureOr<int64_t> part = at.coordinate(load.getPart(), load);
    if (failed(part)) {
      return failure();
    }
    range.summed.push_back(*part);
  }
  ranges[load.getTile()] = range;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Operand A or B: in registers, in a slot that a copy filled, or in a hold.
TileRange TileRanges::operand(Value value, SlotRef slot, int item) const {
  if (slot.object < 0) {
    return rangeOf(value);
  }
  auto copied = contents.rows.find({cta, slot.object, slot.number});
  if (copied != contents.rows.end()) {
    return {{copied->second, TileStart{0}}, {}};
  }
  if (slot.isWhole) {
    return allPieces(slot, item);
  }
  auto put = contents.puts.find({cta, slot.object, slot.number, item});
  return put == contents.puts.end() ? TileRange() : put->second.range;
}

/// Returns the range of all pieces of a hold: the rows of the first begin as
/// many pieces before those of this agent as it has put pieces after the first.
TileRange TileRanges::allPieces(SlotRef slot, int item) const {
  auto put = lastPuts.find({slot.object, item});
  if (put == lastPuts.end()) {
    return {};
  }
  TileRange range = put->second.range;
  if (!range.starts.empty() && range.starts[0]) {
    range.starts[0]->at -= put->second.piece * put->second.rows;
  }
  return range;
}

/// Returns the extent of a tile in registers or in a slot.
static int64_t sizeOf(Value value, size_t dim) {
  auto slot = dyn_cast<ws::SlotType>(value.getType());
  auto tile = slot ? slot.getTile() : cast<RankedTensorType>(value.getType());
  return std::max<int64_t>(1, tile.getDimSize(dim));
}

/// Returns the rows of A that an MMA multiplies: those of a piece begin further
/// down.
LogicalResult TileRanges::moveToPiece(ws::MmaOp mma, TileStart &rows,
                                      SyncNumbers &at) const {
  FailureOr<int64_t> piece = at.evaluate(mma.getPiece(), mma);
  if (failed(piece)) {
    return failure();
  }
  // The rows of a transposed A are those of the block, not of the sub-tile.
  int64_t walked = mma.getTransposeA() ? *piece : subtile.value_or(*piece);
  if (walked != *piece) {
    return at.run.error(mma)
           << "V28: expected the rows of sub-tile " << walked
           << ", whose blocks the loop walks, got those of " << *piece;
  }
  rows.at += *piece * sizeOf(mma.getResult(), 0);
  return success();
}

/// Returns the columns of B that an MMA multiplies.
static LogicalResult moveColumns(ws::MmaOp mma, TileStart &columns,
                                 SyncNumbers &at) {
  FailureOr<int64_t> piece = at.evaluate(mma.getColumns(), mma);
  if (failed(piece)) {
    return failure();
  }
  columns.at += *piece * sizeOf(mma.getResult(), 1);
  return success();
}

/// Returns the iteration that runs a block of `size` elements. If the block
/// belongs to one of several heads for each head of `rows`, consecutive
/// iterations run these heads: iteration n runs head n mod G of block n / G.
static int64_t iterationOf(const TileStart &block, int64_t size,
                           const std::optional<TileStart> &rows) {
  int64_t number = SyncNumbers::iterationOf(block.at / size);
  if (!rows || !rows->of || !block.of || rows->of->second == 0) {
    return number;
  }
  int64_t heads = block.of->second / rows->of->second;
  int64_t member = block.of->second - heads * rows->of->second;
  return heads > 1 ? number * heads + member : number;
}

/// Adds the blocks of the accumulator, and the block that the product runs
/// over.
static LogicalResult sumUp(ws::MmaOp mma, const TileRange &accumulator,
                           std::optional<TileStart> block, TileRange &result,
                           SyncNumbers &at) {
  unsigned contracted = mma.getTransposeA() ? 0 : 1;
  bool fresh = mma.getFresh() && at.tryEvaluate(mma.getFresh()).value_or(0);
  if (mma.getAcc() && !fresh) {
    SmallVector<TileRange> sums{result, accumulator};
    dropSumsOfSpread(sums);
    if (failed(combineInto(result, sums[1], mma, at))) {
      return failure();
    }
  }
  if (!block) {
    result.sawSame = true;
    return success();
  }
  int64_t number =
      iterationOf(*block, sizeOf(mma.getA(), contracted), startOf(result, 0));
  if (llvm::is_contained(result.summed, number)) {
    return at.run.error(mma)
           << "V28: expected each block to be added once, got " << number
           << " again";
  }
  result.summed.push_back(number);
  llvm::sort(result.summed);
  return success();
}

LogicalResult TileRanges::visitMma(ws::MmaOp mma, SyncNumbers &at) {
  for (Value tile : {mma.getA(), mma.getResult()}) {
    if (isa<VectorType>(tile.getType())) {
      return at.run.error(mma) << "expected tiles, as they are before "
                                  "attn-distribute, got "
                               << tile.getType();
    }
  }
  const SyncStep &step = at.run.steps.back();
  TileRange a = operand(mma.getA(), step.reads[0], step.item);
  TileRange b = operand(mma.getB(), step.reads[1], step.item);
  std::optional<TileStart> rows = startOf(a, 0), left = startOf(a, 1);
  size_t summed = mma.getTransposeB() ? 1 : 0;
  std::optional<TileStart> right = startOf(b, summed),
                           columns = startOf(b, 1 - summed);
  if (mma.getTransposeA()) {
    std::swap(rows, left);
  }
  if ((mma.getPiece() && rows && failed(moveToPiece(mma, *rows, at))) ||
      (mma.getColumns() && columns && failed(moveColumns(mma, *columns, at)))) {
    return failure();
  }
  if (left && right && !areSame(*left, *right)) {
    return at.run.error(mma)
           << "V28: expected the columns of A and what they are "
              "multiplied with to be the same elements, got "
           << describe(*left) << " and " << describe(*right);
  }
  std::optional<TileStart> other = left && left->of ? left : columns;
  if (rows && other && rows->of && other->of &&
      rows->of->first != other->of->first) {
    return at.run.error(mma) << "V28: expected operands of one batch, got "
                             << describe(*rows) << " and " << describe(*other);
  }
  TileRange result;
  result.starts = {rows, columns};
  if (failed(
          sumUp(mma, rangeOf(mma.getAcc()), left ? left : right, result, at))) {
    return failure();
  }
  ranges[mma.getResult()] = result;
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void TileRanges::pass(ValueRange from, ValueRange to) {
  SmallVector<TileRange> passed;
  for (Value value : from) {
    passed.push_back(rangeOf(value));
  }
  for (auto [range, value] : llvm::zip(passed, to)) {
    if (rankOf(value)) {
      ranges[value] = range;
    }
  }
}

LogicalResult TileRanges::passEither(scf::IfOp branch, SyncNumbers &at) {
  for (auto [result, a, b] :
       llvm::zip(branch.getResults(), branch.thenYield().getOperands(),
                 branch.elseYield().getOperands())) {
    if (!rankOf(result)) {
      continue;
    }
    TileRange range = rangeOf(a);
    if (failed(combineInto(range, rangeOf(b), branch, at))) {
      return failure();
    }
    ranges[result] = range;
  }
  return success();
}

LogicalResult TileRanges::visitCoords(tile::CoordsOp coords, SyncNumbers &at) {
  FailureOr<int64_t> start = at.coordinate(coords.getOffset(), coords);
  if (failed(start)) {
    return failure();
  }
  TileRange range;
  range.starts.resize(*rankOf(coords.getResult()));
  range.starts[range.starts.size() == 1 ? 0 : coords.getDim()] =
      TileStart{*start};
  ranges[coords.getResult()] = range;
  return success();
}

/// Elementwise ops: operands have the shape of the results.
LogicalResult TileRanges::combine(Operation *op, SyncNumbers &at) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      continue;
    }
    SmallVector<TileRange> operands;
    for (Value operand : op->getOperands()) {
      auto other = dyn_cast<RankedTensorType>(operand.getType());
      if (other && other.getShape() == type.getShape()) {
        operands.push_back(rangeOf(operand));
      }
    }
    TileRange range;
    range.isSpread = dropSumsOfSpread(operands);
    for (const TileRange &operand : operands) {
      if (failed(combineInto(range, operand, op, at))) {
        return failure();
      }
    }
    ranges[result] = range;
  }
  return success();
}

/// Returns the remaining rows or columns, which have now summed the block of
/// the others.
static TileRange reduced(tile::ReduceOp reduce, const TileRange &of) {
  TileRange range;
  size_t dim = reduce.getDim();
  if (dim < of.starts.size()) {
    range.starts = of.starts;
    range.starts.erase(range.starts.begin() + dim);
  }
  range.sawSame = !startOf(of, dim);
  if (auto start = startOf(of, dim)) {
    range.summed = {iterationOf(*start, sizeOf(reduce.getSource(), dim),
                                startOf(of, 1 - dim))};
  }
  return range;
}

/// Returns the blocks that this replica runs.
LogicalResult TileRanges::visitBounds(tile::BoundsOp bounds, SyncNumbers &at) {
  FailureOr<int64_t> begin = at.evaluate(bounds.getResults().front(), bounds);
  FailureOr<int64_t> end = at.evaluate(bounds.getResults().back(), bounds);
  if (failed(begin) || failed(end)) {
    return failure();
  }
  lowest = std::min(*begin, *end);
  pastHighest = std::max(*begin, *end);
  subtile.reset();
  if (bounds.getSubtile()) {
    subtile = at.tryEvaluate(bounds.getSubtile());
  }
  return success();
}

LogicalResult TileRanges::checkUsed(Operation *op, SyncNumbers &at) const {
  for (Value result : op->getResults()) {
    if (result.use_empty() && rankOf(result) == 2 && isTile(rangeOf(result)) &&
        !rangeOf(result).isAccumulated) {
      return at.run.error(op)
             << "V28: expected the tiles that a loop or branch "
                "makes to be used, got one that is not";
    }
  }
  return success();
}

LogicalResult TileRanges::visit(Operation *op, SyncNumbers &at) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ws::CopyOp copy) { return visitCopy(copy, at); })
      .Case([&](ws::MmaOp mma) { return visitMma(mma, at); })
      .Case([&](ws::ReadRowOp read) {
        visitReadRow(read, at);
        return success();
      })
      .Case([&](ws::PutOp put) {
        visitPut(put, at);
        return success();
      })
      .Case([&](ws::StoreOp store) { return visitStore(store, at); })
      .Case<tile::StoreRowOp, tile::StoreRegOp>(
          [&](auto store) { return visitStoreOf(store, at); })
      .Case<ws::ReduceAddOp, tile::ReduceAddOp>(
          [&](auto add) { return noteAdded(add, contents.written, at); })
      .Case<tile::LoadOp, tile::LoadRowOp>(
          [&](auto load) { return visitLoad(load, at); })
      .Case([&](tile::BoundsOp bounds) { return visitBounds(bounds, at); })
      .Case([&](tile::CoordsOp coords) { return visitCoords(coords, at); })
      .Case([&](ws::AwaitOp await) {
        pass(await.getValue(), await.getResult());
        return success();
      })
      .Case([&](tile::ReduceOp reduce) {
        ranges[reduce.getResult()] =
            reduced(reduce, rangeOf(reduce.getSource()));
        return success();
      })
      .Case([&](tile::AccumulateOp add) {
        ranges[add.getResult()] = rangeOf(add.getTile());
        ranges[add.getResult()].isAccumulated = true;
        return success();
      })
      .Case([&](tile::BroadcastOp broadcast) {
        TileRange range = rangeOf(broadcast.getSource());
        range.isSpread = true;
        if (!range.starts.empty()) {
          range.starts.insert(range.starts.begin() + broadcast.getDim(),
                              std::nullopt);
        }
        ranges[broadcast.getResult()] = range;
        return success();
      })
      .Default([&](Operation *op) { return combine(op, at); });
}
