// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/tensor_allocator.h"

#include <algorithm>

using namespace attn::sim;

bool TensorAllocator::isTaken(uint32_t base, uint32_t columns) const {
  return std::any_of(
      allocations.begin(), allocations.end(), [&](const TmemAllocation &each) {
        return base < each.base + each.columns && each.base < base + columns;
      });
}

bool TensorAllocator::isFree(uint32_t base, uint32_t columns) const {
  return !isTaken(base, columns) &&
         !(neighbor && neighbor->isTaken(base, columns));
}

void TensorAllocator::add(const TmemAllocation &allocation) {
  hasAllocated = true;
  mostColumns = allocation.columns;
  allocations.push_back(allocation);
}

uint32_t TensorAllocator::chooseBase(uint32_t columns,
                                     const TensorAllocator &peer) {
  std::vector<uint32_t> bases;
  for (uint32_t base = 0; base + columns <= kTmemColumns; base += columns) {
    if (isFree(base, columns) && peer.isFree(base, columns)) {
      bases.push_back(base);
    }
  }
  return bases.empty() ? kTmemColumns
         : seed == 0   ? bases.back()
         : seed == 1   ? bases.front()
                       : bases[random.below(bases.size())];
}

bool TensorAllocator::allocate(TmemAllocation &wanted) {
  wanted.base = chooseBase(wanted.columns, *this);
  if (wanted.base == kTmemColumns) {
    return false;
  }
  add(wanted);
  return true;
}

bool TensorAllocator::allocateBoth(TmemAllocation &wanted,
                                   TensorAllocator &peer,
                                   TmemAllocation &peers) {
  wanted.base = peers.base = chooseBase(wanted.columns, peer);
  if (wanted.base == kTmemColumns) {
    return false;
  }
  add(wanted);
  peer.add(peers);
  return true;
}

bool TensorAllocator::release(uint32_t base, uint32_t columns) {
  auto found = std::find_if(
      allocations.begin(), allocations.end(), [&](const TmemAllocation &each) {
        return each.base == base && each.columns == columns;
      });
  if (found == allocations.end()) {
    return false;
  }
  allocations.erase(found);
  return true;
}

bool TensorAllocator::contains(uint32_t column, uint32_t columns) const {
  uint32_t end = column + columns;
  for (bool found = true; found && column < end;) {
    found = false;
    for (const TmemAllocation &each : allocations) {
      if (column >= each.base && column < each.base + each.columns) {
        column = each.base + each.columns;
        found = true;
      }
    }
  }
  return column >= end;
}

std::string TensorAllocator::describe() const {
  std::string text;
  for (const TmemAllocation &each : allocations) {
    text += (text.empty() ? "columns " : " and ") + std::to_string(each.base) +
            " to " + std::to_string(each.base + each.columns - 1);
  }
  return text.empty() ? "none" : text;
}

uint32_t TensorAllocator::countTaken() const {
  uint32_t taken = 0;
  for (const TmemAllocation &each : allocations) {
    taken += each.columns;
  }
  return taken;
}

uint32_t TensorAllocator::countFree() const {
  return kTmemColumns - countTaken() - (neighbor ? neighbor->countTaken() : 0);
}
