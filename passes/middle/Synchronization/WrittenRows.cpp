// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WrittenRows.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace attn;

bool WrittenTile::operator==(const WrittenTile &other) const {
  return dest == other.dest && item == other.item && plane == other.plane &&
         row == other.row && rows == other.rows;
}

void WrittenRows::keepCommon(size_t first, size_t second) {
  ArrayRef<WrittenTile> all(tiles);
  ArrayRef<WrittenTile> one = all.slice(first, second - first),
                        other = all.drop_front(second);
  std::vector<WrittenTile> common;
  llvm::copy_if(one, std::back_inserter(common), [&](const WrittenTile &tile) {
    return llvm::is_contained(other, tile);
  });
  tiles.resize(first);
  llvm::append_range(tiles, common);
}

namespace {

/// Consecutive rows, and the number of tiles that cover each of them.
struct Stretch {
  int64_t first, end, times;
};

} // namespace

/// In order, without uncovered rows.
static std::vector<Stretch> stretchesOf(ArrayRef<const WrittenTile *> tiles) {
  std::map<int64_t, int64_t> changes;
  for (const WrittenTile *tile : tiles) {
    ++changes[tile->row];
    --changes[tile->row + tile->rows];
  }
  std::vector<Stretch> stretches;
  int64_t times = 0;
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    times += change->second;
    if (times == 0) {
      continue;
    }
    int64_t end = std::next(change)->first;
    bool goesOn = !stretches.empty() && stretches.back().times == times &&
                  stretches.back().end == change->first;
    if (goesOn) {
      stretches.back().end = end;
    } else {
      stretches.push_back({change->first, end, times});
    }
  }
  return stretches;
}

static int64_t countRows(ArrayRef<Stretch> stretches) {
  int64_t rows = 0;
  for (const Stretch &stretch : stretches) {
    rows += stretch.end - stretch.first;
  }
  return rows;
}

namespace {

/// The writes of one item to one tensor.
class ItemRows {
public:
  /// `isSum` says whether shares of several items make each row.
  ItemRows(ArgumentAttr argument, bool isSum, int64_t blocks, bool onlyBlock,
           function_ref<InFlightDiagnostic()> emitError)
      : argument(argument), isSum(isSum), blocks(blocks), onlyBlock(onlyBlock),
        emitError(emitError) {}

  LogicalResult check(ArrayRef<const WrittenTile *> tiles) const;

private:
  bool adds() const { return isSum; }
  InFlightDiagnostic error() const {
    return emitError() << (adds() ? "add to " : "write ");
  }
  LogicalResult checkPlane(ArrayRef<const WrittenTile *> tiles) const;
  LogicalResult checkTimes(ArrayRef<const WrittenTile *> tiles) const;
  LogicalResult checkInTurn(
      const std::map<TensorPlane, SmallVector<const WrittenTile *>> &planes)
      const;

  ArgumentAttr argument;
  bool isSum;
  int64_t blocks;
  bool onlyBlock;
  function_ref<InFlightDiagnostic()> emitError;
};

} // namespace

/// An agent adds to all of its rows equally often: twice if it adds two
/// products. Several agents may add to the same rows, but only one may write
/// them.
LogicalResult ItemRows::checkTimes(ArrayRef<const WrittenTile *> tiles) const {
  std::map<std::pair<const void *, int64_t>, SmallVector<const WrittenTile *>>
      agents;
  for (const WrittenTile *tile : tiles) {
    agents[adds() ? tile->agent : std::pair<const void *, int64_t>()].push_back(
        tile);
  }
  for (const auto &[agent, own] : agents) {
    std::vector<Stretch> stretches = stretchesOf(own);
    int64_t expected = adds() ? stretches.front().times : 1;
    for (const Stretch &stretch : stretches) {
      if (stretch.times != expected) {
        return error() << "each row of " << argument.getName()
                       << (expected == 1 ? " once" : " equally often")
                       << ", got rows " << stretch.first << " up to "
                       << stretch.end << ' ' << stretch.times << " times";
      }
    }
  }
  return success();
}

/// Checks that all tiles have one part, batch and head.
LogicalResult ItemRows::checkPlane(ArrayRef<const WrittenTile *> tiles) const {
  if (failed(checkTimes(tiles))) {
    return failure();
  }
  std::optional<int64_t> ofItem;
  int64_t ofIteration = 0;
  for (const WrittenTile *tile : tiles) {
    ofItem = std::max(ofItem, tile->toNextItem);
    ofIteration = std::max(ofIteration, tile->toNextIteration);
  }
  if (!ofItem) {
    return success();
  }
  if (*ofItem == 0 && !adds()) {
    return onlyBlock ? success()
                     : error() << "rows of " << argument.getName()
                               << " that no other row block has, got rows that "
                                  "do not depend on the row block";
  }
  int64_t expected = *ofItem > 0 ? *ofItem : blocks * ofIteration;
  int64_t got = countRows(stretchesOf(tiles));
  bool reachesNext = got > expected && !onlyBlock && !adds();
  if (got < expected || reachesNext) {
    return error() << expected << " rows of " << argument.getName() << ", got "
                   << got;
  }
  return success();
}

/// Consecutive iterations add to different heads: over all heads they must add
/// to as many rows as if all of them added to one head.
LogicalResult ItemRows::checkInTurn(
    const std::map<TensorPlane, SmallVector<const WrittenTile *>> &planes)
    const {
  int64_t got = 0, ofIteration = 0;
  for (const auto &[plane, own] : planes) {
    if (failed(checkTimes(own))) {
      return failure();
    }
    got += countRows(stretchesOf(own));
    for (const WrittenTile *tile : own) {
      ofIteration = std::max(ofIteration, tile->rows);
    }
  }
  if (got < blocks * ofIteration) {
    return error() << blocks * ofIteration << " rows of " << argument.getName()
                   << " in all heads, got " << got;
  }
  return success();
}

LogicalResult ItemRows::check(ArrayRef<const WrittenTile *> tiles) const {
  // An item without blocks has nothing to add to the rows of its blocks.
  if (tiles.empty() && adds() && blocks == 0) {
    return success();
  }
  if (tiles.empty()) {
    return error() << "rows of " << argument.getName() << ", got none";
  }
  std::map<TensorPlane, SmallVector<const WrittenTile *>> planes;
  bool inTurn = false;
  for (const WrittenTile *tile : tiles) {
    planes[tile->plane].push_back(tile);
    inTurn |= tile->changesHead;
  }
  if (adds() && inTurn) {
    return checkInTurn(planes);
  }
  for (const auto &[plane, own] : planes) {
    if (failed(checkPlane(own))) {
      return failure();
    }
  }
  return success();
}

/// Whether each head and batch has only one row block.
static bool hasOnlyBlock(ws::KernelOp kernel) {
  WalkResult walked = kernel.walk([](ws::WorkLoopOp work) {
    return matchPattern(work.getBlocks(), m_One()) ? WalkResult::advance()
                                                   : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}

LogicalResult WrittenRows::check(ws::KernelOp kernel,
                                 ArrayRef<SyncItem> items) const {
  std::map<std::pair<const void *, int>, SmallVector<const WrittenTile *>> all;
  for (const WrittenTile &tile : tiles) {
    all[{tile.dest, tile.item}].push_back(&tile);
  }
  bool onlyBlock = hasOnlyBlock(kernel);
  for (auto [argument, description] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArgs().getList())) {
    // Elements at indices of their own are not followed, and turns are no rows.
    bool isOfTurns = llvm::any_of(
        argument.getUsers(), llvm::IsaPred<tile::TurnWaitOp, tile::TurnPassOp>);
    if (description.getAccess() == ArgumentAccess::Read || isOfTurns ||
        llvm::any_of(argument.getUsers(), llvm::IsaPred<tile::ScatterOp>)) {
      continue;
    }
    bool isSum =
        description.getAccess() == ArgumentAccess::Accumulate ||
        llvm::any_of(argument.getUsers(), llvm::IsaPred<tile::ReduceAddOp>);
    for (int item = 0, e = items.size(); item < e; ++item) {
      auto emitError = [&] {
        return emitSyncError(kernel, items)
               << "V28: expected work item " << item << " to ";
      };
      ItemRows rows(description, isSum, items[item].from(0), onlyBlock,
                    emitError);
      if (failed(rows.check(all[{argument.getAsOpaquePointer(), item}]))) {
        return failure();
      }
    }
  }
  return success();
}
