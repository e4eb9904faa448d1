// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SharedMemory.h"

using namespace mlir;
using namespace attn;

SharedMemory::SharedMemory(ws::KernelOp kernel)
    : unplanned(kernel.getSmemBytes().value_or(0)) {
  SmallVector<Request> requests;
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    requests.push_back({channel.getSymName(), channel.getOffset(),
                        channel.getOver(), channel.getSlotBytes(),
                        int64_t(channel.getDepth())});
  }
  for (auto hold : kernel.getBody().getOps<ws::HoldOp>()) {
    requests.push_back({hold.getSymName(), hold.getOffset(), hold.getOver(),
                        hold.getPieceBytes(),
                        int64_t(hold.getPieces() * hold.getDepth())});
  }
  // Guests are placed after their hosts, whatever the order of the
  // declarations.
  while (!requests.empty()) {
    auto next = llvm::find_if(requests, [&](const Request &request) {
      return request.offset || !request.over || places.contains(*request.over);
    });
    next = next == requests.end() ? requests.begin() : next;
    place(*next);
    requests.erase(next);
  }
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
}

/// Before attn-plan-memory a place without an offset overlaps its host, or
/// comes after all others.
void SharedMemory::place(const Request &request) {
  int64_t begin = unplanned;
  if (request.offset) {
    begin = *request.offset;
  } else if (request.over && places.contains(*request.over)) {
    begin = places.lookup(*request.over).offset;
  } else {
    unplanned += request.slotBytes * request.slots;
  }
  places[request.name] = {begin, request.slotBytes};
  for (int64_t slot = 0; slot <= request.slots; ++slot) {
    bounds.push_back(begin + slot * request.slotBytes);
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
