// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncCases.h"
#include "attn/dialect/ItemChoice.h"

using namespace mlir;
using namespace attn;

/// Returns the largest number of ranges of a loop of the kernel.
static size_t rangesOf(ws::KernelOp kernel) {
  size_t ranges = 1;
  kernel.walk([&](tile::BoundsOp bounds) {
    ranges = std::max<size_t>(ranges, bounds.getNumResults() - 1);
  });
  return ranges;
}

static int64_t deepestRing(ws::KernelOp kernel) {
  int64_t deepest = 0;
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    deepest = std::max<int64_t>(deepest, channel.getDepth());
  }
  return deepest;
}

/// Returns all items with 0 to `most` blocks in each range, smallest first.
static std::vector<SyncItem> shapesUpTo(int64_t most, size_t ranges) {
  std::vector<SyncItem> shapes{SyncItem()};
  for (size_t range = 0; range < ranges; ++range) {
    std::vector<SyncItem> longer;
    for (const SyncItem &shape : shapes) {
      for (int64_t blocks = 0; blocks <= most; ++blocks) {
        longer.push_back(shape);
        longer.back().blocks.push_back(blocks);
      }
    }
    shapes = std::move(longer);
  }
  llvm::sort(shapes, [](const SyncItem &a, const SyncItem &b) {
    return std::make_pair(a.from(0), a.blocks) <
           std::make_pair(b.from(0), b.blocks);
  });
  return shapes;
}

/// Returns an item with blocks in only one range.
static SyncItem onlyIn(size_t range, int64_t blocks, size_t ranges) {
  SyncItem item;
  item.blocks.assign(ranges, 0);
  item.blocks[range] = blocks;
  return item;
}

/// Returns the second run of item `first` of a list.
static SyncItem secondRun(SyncItem item, int64_t first = 0) {
  item.first = first;
  return item;
}

/// Returns a part of an item that is cut.
static SyncItem partOf(SyncItem item) {
  item.isPart = true;
  return item;
}

/// Returns the items that `ws.choose_item` makes of a list, if those with the
/// numbers `rejected` are rejected in their first runs.
static SyncCase handedOut(ArrayRef<SyncItem> given, ArrayRef<int> rejected) {
  SyncCase tried;
  SmallVector<int> numbers; // in `given`, for the iterations so far
  auto take = [&](int64_t iteration) {
    return !tried.items[iteration].isSecond() &&
           llvm::is_contained(rejected, numbers[iteration]);
  };
  ws::KnownScalars now{take};
  ws::HandOutState<int64_t> state;
  for (int next = 0;;) {
    int64_t iteration = tried.items.size();
    auto chosen =
        ws::chooseItem(now, state, iteration, next < int(given.size()));
    if (!chosen.exists) {
      return tried;
    }
    numbers.push_back(chosen.second ? numbers[chosen.number] : next++);
    const SyncItem &item = given[numbers.back()];
    tried.items.push_back(chosen.second ? secondRun(item, chosen.number)
                                        : item);
    state = chosen.state;
  }
}

/// Whether some verdict may reject an item.
static bool hasVerdict(ws::KernelOp kernel) {
  return !kernel.getBody().getOps<ws::VerdictOp>().empty();
}

static constexpr int64_t most = 3;

/// Returns items with 0 or 1 block in each range, or 3 in one.
static std::vector<SyncItem> smallShapes(size_t ranges) {
  std::vector<SyncItem> shapes = shapesUpTo(1, ranges);
  for (size_t range = 0; range < ranges; ++range) {
    shapes.push_back(onlyIn(range, most, ranges));
  }
  return shapes;
}

/// Whether an item has blocks in one range, one in each, or none.
static bool isPure(const SyncItem &item) {
  size_t filled = llvm::count_if(item.blocks, [](int64_t n) { return n > 0; });
  return filled <= 1 || item.from(0) == int64_t(item.blocks.size());
}

static void addSingles(ArrayRef<SyncItem> shapes, bool followTiles,
                       ws::KernelOp kernel, std::vector<SyncCase> &cases) {
  for (const SyncItem &item : shapes) {
    cases.push_back({{item}, followTiles});
    if (!hasVerdict(kernel)) {
      continue;
    }
    if (kernel.getConfig().getLastWaveParts() > 1) {
      cases.push_back({{partOf(item)}});
    }
    cases.push_back({{item, secondRun(item)}});
  }
}

std::vector<SyncCase> attn::casesToTry(ws::KernelOp kernel, bool exhaustive) {
  size_t ranges = rangesOf(kernel);
  std::vector<SyncItem> small = smallShapes(ranges);
  std::vector<SyncItem> all =
      exhaustive ? shapesUpTo(most, ranges) : std::vector<SyncItem>();
  std::vector<SyncCase> cases;
  addSingles(exhaustive ? all : small, /*followTiles=*/true, kernel, cases);
  SyncItem full;
  full.blocks.assign(ranges, most);
  addSingles(full, /*followTiles=*/true, kernel, cases);
  std::vector<SyncItem> wrapping, even;
  for (size_t range = 0; range < ranges; ++range) {
    even.push_back(onlyIn(range, 2, ranges));
    even.push_back(onlyIn(range, 2 * deepestRing(kernel), ranges));
    wrapping.push_back(onlyIn(range, 2 * deepestRing(kernel) + 1, ranges));
  }
  addSingles(even, /*followTiles=*/false, kernel, cases);
  addSingles(wrapping, /*followTiles=*/false, kernel, cases);
  if (kernel.getConfig().getWork() == WorkKind::Grid) {
    return cases;
  }
  if (!exhaustive) {
    llvm::erase_if(small, [](const SyncItem &item) { return !isPure(item); });
  }
  for (const SyncItem &a : exhaustive ? all : small) {
    for (const SyncItem &b : exhaustive ? all : small) {
      if (exhaustive) {
        cases.push_back({{a, b}});
      }
      cases.push_back({{a, b, a}});
    }
  }
  for (const SyncItem &item : wrapping) {
    cases.push_back({{item, item}});
  }
  if (hasVerdict(kernel)) {
    // The verdict on the first item is read two iterations later; the one on
    // the last item is waited for, in an iteration that reads another one or
    // none.
    const SyncItem &a = wrapping.front(), &b = small.front();
    cases.push_back(handedOut({a, b, b}, {0}));
    cases.push_back(handedOut({a, b}, {0, 1}));
    cases.push_back(handedOut({a, b}, {1}));
    cases.push_back(handedOut({a, b, b}, {1, 2}));
    if (kernel.getConfig().getLastWaveParts() > 1) {
      SyncItem one = onlyIn(0, 1, ranges), part = partOf(one);
      cases.push_back(handedOut({part, part, one}, {2}));
    }
  }
  return cases;
}
