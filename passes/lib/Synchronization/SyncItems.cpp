// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncItems.h"
#include "attn/dialect/ItemMemory.h"

using namespace mlir;
using namespace attn;

/// The most ranges that a loop of the kernel has.
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

/// All items with 0 to `most` blocks in each range, those with few first.
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

/// An item with blocks in one range alone.
static SyncItem onlyIn(size_t range, int64_t blocks, size_t ranges) {
  SyncItem item;
  item.blocks.assign(ranges, 0);
  item.blocks[range] = blocks;
  return item;
}

static SyncItem again(SyncItem item) {
  item.redo = true;
  return item;
}

std::vector<SyncItems> attn::itemsToTry(ws::KernelOp kernel, bool exhaustive) {
  constexpr int64_t most = 3;
  size_t ranges = rangesOf(kernel);
  bool persistent = kernel.getConfig().getWork() != WorkKind::Grid;
  std::vector<SyncItems> lists;
  std::vector<SyncItem> shapes = shapesUpTo(most, ranges);
  for (const SyncItem &item : shapes) {
    lists.push_back({item});
    if (ws::mayReject(kernel)) {
      lists.push_back({item, again(item)});
    }
  }
  std::vector<SyncItem> wrapping;
  for (size_t range = 0; range < ranges; ++range) {
    wrapping.push_back(onlyIn(range, 2 * deepestRing(kernel) + 1, ranges));
    lists.push_back({wrapping.back()});
  }
  if (!persistent) {
    return lists;
  }
  if (!exhaustive) {
    shapes = shapesUpTo(1, ranges);
    for (size_t range = 0; range < ranges; ++range) {
      shapes.push_back(onlyIn(range, most, ranges));
    }
  }
  for (const SyncItem &a : shapes) {
    for (const SyncItem &b : shapes) {
      lists.push_back({a, b});
      lists.push_back({a, b, a});
    }
  }
  for (const SyncItem &item : wrapping) {
    lists.push_back({item, item});
  }
  return lists;
}
