// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "memory.h"

using namespace attn::sim;

/// No allocation is below this.
static constexpr uint64_t kLowestAddress = 4096;

void GlobalMemory::add(const void *begin, size_t size, std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  buffers[reinterpret_cast<uintptr_t>(begin)] = {size, std::move(name)};
}

void GlobalMemory::remove(const void *begin) {
  std::lock_guard<std::mutex> lock(mutex);
  buffers.erase(reinterpret_cast<uintptr_t>(begin));
}

bool GlobalMemory::isOpen() const {
  std::lock_guard<std::mutex> lock(mutex);
  return buffers.empty();
}

bool GlobalMemory::contains(uint64_t address, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (buffers.empty()) {
    return address >= kLowestAddress && address < kSharedWindow;
  }
  auto after = buffers.upper_bound(address);
  if (after == buffers.begin()) {
    return false;
  }
  auto found = std::prev(after);
  uint64_t offset = address - found->first;
  return offset < found->second.size && bytes <= found->second.size - offset;
}

std::string GlobalMemory::describe(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
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
  // Remember the page-sized run around it that is known to be good.
  lastBegin = address;
  lastSize = bytes;
  constexpr uint64_t run = 4096;
  if (memory.contains(address, run)) {
    lastSize = run;
  }
  return reinterpret_cast<uint8_t *>(address);
}
