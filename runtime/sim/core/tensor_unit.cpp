// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/tensor_unit.h"

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

/// The content of new columns, and the result of loads of columns that are
/// being written: NaNs of every format.
static constexpr uint32_t kTmemPoison = 0x7fff7fff;

std::vector<TmemRegion> TensorMove::regions() const {
  uint32_t lanes = tmemLanes(shape);
  uint32_t half = place.lane / kTmemHalf;
  uint32_t columns = count / tmemRegisters(shape) * tmemColumns(shape);
  TmemRegion region;
  region.halves = (lanes == 32 ? 3u : 1u) << half;
  region.column = place.column;
  region.columns = isPacked ? 2 * columns : columns;
  if (shape != TmemShape::L16x32bx2) {
    return {region};
  }
  TmemRegion second = region;
  second.column += split;
  return {region, second};
}

TensorUnit::TensorUnit(Cta &cta, AsyncPolicy policy, uint64_t seed)
    : allocator(seed, cta.number), cta(cta), policy(policy),
      cells(size_t(kTmemColumns) * kTmemLanes, kTmemPoison) {}

void TensorUnit::poison(uint32_t base, uint32_t columns) {
  std::fill_n(column(base), columns * kTmemLanes, kTmemPoison);
}

void TensorUnit::start(std::unique_ptr<TensorOp> op) {
  queue.push_back(std::move(op));
  if (policy == AsyncPolicy::Early) {
    completeOp(queue.size() - 1);
  }
}

void TensorUnit::start(TensorMove move) {
  if (policy == AsyncPolicy::Early) {
    move.isLoad ? load(move) : store(move);
    return;
  }
  for (uint32_t i = 0; move.isLoad && i < move.count; ++i) {
    std::fill_n(cta.getWarp(move.warp).word(move.slots[i]), kLanes,
                kTmemPoison);
  }
  moves.push_back(std::move(move));
}

void TensorUnit::useLoad(const Warp &warp, uint64_t number) {
  for (size_t i = 0; i < moves.size(); ++i) {
    if (moves[i].isLoad && moves[i].warp == warp.index &&
        moves[i].number == number) {
      completeMove(i);
      break;
    }
  }
  if (observer) {
    observer->useLoad(warp, number);
  }
}

void TensorUnit::finishMoves(uint32_t warp, bool loads) {
  for (size_t i = 0; i < moves.size();) {
    if (moves[i].isLoad == loads && moves[i].warp == warp) {
      completeMove(i);
    } else {
      ++i;
    }
  }
}

/// The oldest of the queue, and commits of threads that have nothing before
/// them there: they wait for no other thread's operations.
std::vector<size_t> TensorUnit::findReady() const {
  std::vector<size_t> ready;
  for (size_t i = 0; i < queue.size(); ++i) {
    auto isOfThread = [&](const std::unique_ptr<TensorOp> &other) {
      return other->cta == queue[i]->cta && other->warp == queue[i]->warp &&
             other->lane == queue[i]->lane;
    };
    auto end = queue.begin() + ptrdiff_t(i);
    if (i == 0 ||
        (queue[i]->isCommit && std::none_of(queue.begin(), end, isOfThread))) {
      ready.push_back(i);
    }
  }
  return ready;
}

size_t TensorUnit::countReady() const {
  return findReady().size() + moves.size();
}

void TensorUnit::completeReady(size_t index) {
  std::vector<size_t> ready = findReady();
  if (index < ready.size()) {
    completeOp(ready[index]);
  } else {
    completeMove(index - ready.size());
  }
}

void TensorUnit::completeOp(size_t index) {
  std::unique_ptr<TensorOp> op = std::move(queue[index]);
  queue.erase(queue.begin() + ptrdiff_t(index));
  if (op->cta->observer) {
    op->cta->observer->onComplete(*op);
  }
  std::string problem = op->complete(*op->cta);
  ++op->cta->changes;
  if (!problem.empty()) {
    op->cta->reports.fail(op->warp, op->pc, op->lane, problem);
  }
}

void TensorUnit::completeMove(size_t index) {
  TensorMove move = std::move(moves[index]);
  moves.erase(moves.begin() + ptrdiff_t(index));
  move.isLoad ? load(move) : store(move);
}

bool TensorUnit::writesAny(const std::vector<TmemRegion> &regions) const {
  return std::any_of(queue.begin(), queue.end(), [&](const auto &op) {
    TmemRegion written = op->writes();
    return std::any_of(
        regions.begin(), regions.end(),
        [&](const TmemRegion &each) { return each.meets(written); });
  });
}

bool TensorUnit::isInFlight(const TensorMove &move) const {
  const TensorUnit *unit = this;
  if (group == 2) {
    Cta &first = cta.cluster.getCta(cta.rank & ~1u);
    unit = &first.inFlight.tensorUnit();
  }
  return !unit->queue.empty() && unit->writesAny(move.regions());
}

/// The cell of register `index` of a lane; a packed register has the next
/// column too.
static TmemPlace cellOf(const TensorMove &move, uint32_t index, uint32_t lane) {
  TmemPlace cell = tmemCell(move.shape, index, lane, /*split=*/0);
  bool isUpper = move.shape == TmemShape::L16x32bx2 && lane >= kTmemHalf;
  return {move.place.lane + cell.lane,
          move.place.column + (move.isPacked ? 2 : 1) * cell.column +
              (isUpper ? move.split : 0)};
}

void TensorUnit::load(const TensorMove &move) {
  Warp &warp = cta.getWarp(move.warp);
  bool inFlight = isInFlight(move);
  for (uint32_t i = 0; i < move.count; ++i) {
    uint32_t *to = warp.word(move.slots[i]);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      TmemPlace cell = cellOf(move, i, lane);
      uint32_t value = column(cell.column)[cell.lane];
      if (move.isPacked) {
        value = (value & 0xffff) | column(cell.column + 1)[cell.lane] << 16;
      }
      to[lane] = inFlight ? kTmemPoison : value;
    }
  }
}

void TensorUnit::store(const TensorMove &move) {
  for (uint32_t i = 0; i < move.count; ++i) {
    const uint32_t *from = move.values.data() + size_t(i) * kLanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      TmemPlace cell = cellOf(move, i, lane);
      uint32_t &first = column(cell.column)[cell.lane];
      first = move.isPacked ? from[lane] & 0xffff : from[lane];
      if (move.isPacked) {
        column(cell.column + 1)[cell.lane] = from[lane] >> 16;
      }
    }
  }
}
