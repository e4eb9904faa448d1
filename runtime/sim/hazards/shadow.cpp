// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/shadow.h"

using namespace attn::sim;

ShadowCell &Shadow::cellAt(uint64_t address) {
  uint64_t number = address / (kCellBytes * kPageCells);
  if (number != lastNumber) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page) {
      page = std::make_unique<Page>();
    }
    lastNumber = number;
    lastPage = page.get();
  }
  return (*lastPage)[address / kCellBytes % kPageCells];
}

/// An index of `all` that is not in use.
template <typename T>
static uint32_t take(std::vector<T> &all, std::vector<uint32_t> &free) {
  if (free.empty()) {
    all.emplace_back();
    return uint32_t(all.size() - 1);
  }
  uint32_t index = free.back();
  free.pop_back();
  return index;
}

void Shadow::split(ShadowCell &cell) {
  uint32_t index = take(parts, freeParts);
  if (!parts[index]) {
    parts[index] = std::make_unique<Parts>();
  }
  Parts &each = *parts[index];
  each.fill({cell.write, cell.read, 0, 0});
  for (ShadowCell &part : each) {
    if (cell.more) {
      part.more = take(lists, freeLists);
      lists[part.more] = lists[cell.more];
    }
  }
  drop(cell);
  cell.parts = index;
}

void Shadow::unite(ShadowCell &cell) {
  AccessId write = (*parts[cell.parts])[0].write;
  drop(cell);
  cell.write = write;
}

void Shadow::drop(ShadowCell &cell) {
  if (cell.more) {
    lists[cell.more].clear();
    freeLists.push_back(cell.more);
  }
  if (cell.parts) {
    for (ShadowCell &part : *parts[cell.parts]) {
      drop(part);
    }
    freeParts.push_back(cell.parts);
  }
  cell = {};
}

void Shadow::addRead(ShadowCell &cell, AccessId id, const AccessTable &table) {
  if (!cell.read || table.isSameAgent(cell.read, id)) {
    cell.read = id;
    return;
  }
  if (!cell.more) {
    cell.more = take(lists, freeLists);
  }
  std::vector<AccessId> &list = lists[cell.more];
  for (AccessId &other : list) {
    if (table.isSameAgent(other, id)) {
      other = id;
      return;
    }
  }
  if (list.size() + 1 < maxReads) {
    list.push_back(id);
  } else {
    list.back() = id;
  }
}

void Shadow::write(ShadowCell &cell, AccessId id) {
  drop(cell);
  cell.write = id;
}

void Shadow::forget(uint64_t address, uint32_t bytes) {
  visit(address, bytes, /*writes=*/true,
        [&](ShadowCell &cell, uint64_t) { drop(cell); });
}
