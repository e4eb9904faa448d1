// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SharedMemory.h"

using namespace mlir;
using namespace attn;

SharedMemory::SharedMemory(ws::KernelOp kernel)
    : unplanned(kernel.getSmemBytes().value_or(0)) {
  auto over = [](auto place) -> std::optional<StringRef> {
    return place.getOver();
  };
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    addPlace(channel.getSymName(), channel.getOffset(), over(channel),
             channel.getSlotBytes(), channel.getDepth());
  }
  for (auto hold : kernel.getBody().getOps<ws::HoldOp>()) {
    addPlace(hold.getSymName(), hold.getOffset(), over(hold),
             hold.getPieceBytes(), hold.getPieces());
  }
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
}

/// Before attn-plan-memory a place without an offset lies over its host, or
/// behind all others.
void SharedMemory::addPlace(StringRef name, std::optional<uint64_t> offset,
                            std::optional<StringRef> over, int64_t slotBytes,
                            int64_t slots) {
  int64_t begin = unplanned;
  if (offset) {
    begin = *offset;
  } else if (over && places.contains(*over)) {
    begin = places.lookup(*over).offset;
  } else {
    unplanned += slotBytes * slots;
  }
  places[name] = {begin, slotBytes};
  for (int64_t slot = 0; slot <= slots; ++slot) {
    bounds.push_back(begin + slot * slotBytes);
  }
}

CellRange SharedMemory::cells(StringRef name, int64_t slot) const {
  Place place = places.lookup(name);
  int64_t begin = place.offset + slot * place.slotBytes;
  auto at = [&](int64_t byte) {
    return int(llvm::lower_bound(bounds, byte) - bounds.begin());
  };
  return {at(begin), at(begin + place.slotBytes)};
}
