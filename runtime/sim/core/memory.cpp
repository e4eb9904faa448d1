// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "memory.h"

#include <algorithm>

using namespace attn::sim;

void GlobalMemory::add(const void *begin, size_t size, std::string name) {
  buffers[reinterpret_cast<uintptr_t>(begin)] = {size, std::move(name)};
}

void GlobalMemory::addAll(std::vector<MemoryRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const MemoryRange &a, const MemoryRange &b) {
              return std::less<const void *>()(a.begin, b.begin);
            });
  MemoryRange joined;
  auto endOf = [](const MemoryRange &range) {
    return reinterpret_cast<uintptr_t>(range.begin) + range.size;
  };
  for (MemoryRange &range : ranges) {
    if (range.size == 0) {
      continue;
    }
    if (joined.size &&
        reinterpret_cast<uintptr_t>(range.begin) < endOf(joined)) {
      joined.size = std::max(endOf(joined), endOf(range)) -
                    reinterpret_cast<uintptr_t>(joined.begin);
      joined.name += "' and '" + range.name;
      continue;
    }
    if (joined.size) {
      add(joined.begin, joined.size, std::move(joined.name));
    }
    joined = std::move(range);
  }
  if (joined.size) {
    add(joined.begin, joined.size, std::move(joined.name));
  }
}

bool GlobalMemory::contains(uint64_t address, uint64_t bytes) const {
  auto after = buffers.upper_bound(address);
  if (after == buffers.begin()) {
    return false;
  }
  auto found = std::prev(after);
  uint64_t offset = address - found->first;
  return offset < found->second.size && bytes <= found->second.size - offset;
}

std::string GlobalMemory::nameAt(uint64_t address) const {
  auto after = buffers.upper_bound(address);
  if (after == buffers.begin()) {
    return "";
  }
  auto found = std::prev(after);
  return address - found->first < found->second.size ? found->second.name : "";
}

std::string GlobalMemory::describe(uint64_t address) const {
  auto after = buffers.upper_bound(address);
  if (after == buffers.begin()) {
    return "in no buffer";
  }
  auto found = std::prev(after);
  uint64_t offset = address - found->first;
  std::string name =
      found->second.name.empty()
          ? "a buffer of " + std::to_string(found->second.size) + " bytes"
          : "'" + found->second.name + "'";
  return offset < found->second.size
             ? "at byte " + std::to_string(offset) + " of " + name
             : std::to_string(offset - found->second.size) +
                   " bytes past the end of " + name;
}

uint8_t *GlobalView::findSlowly(uint64_t address, uint64_t bytes) {
  if (!memory.contains(address, bytes)) {
    return nullptr;
  }
  // Remembers the page-sized range around it that is known to be valid.
  lastBegin = address;
  lastSize = bytes;
  constexpr uint64_t run = 4096;
  if (memory.contains(address, run)) {
    lastSize = run;
  }
  return reinterpret_cast<uint8_t *>(address);
}
