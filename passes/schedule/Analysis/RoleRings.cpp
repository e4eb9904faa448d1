// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleRings.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

RoleRings::RoleRings(RoleTokens &role, RoleFlights &flights)
    : role(role), bound(role.bound), flights(flights) {
  for (const Place &place : bound.places) {
    maxParts = std::max(maxParts, place.parts);
  }
  lastTaken.assign(bound.places.size() * (bound.subtileCount + 1) * maxParts,
                   -1);
}

FailureOr<CycleKey> RoleRings::cycleOf(const Item &item,
                                       const SlotRef &slot) const {
  const Place &place = bound.places[slot.place];
  int value = place.cycles[slot.alternative].front();
  int cycle = role.builder.cycles.find(
      place, slot.subtile,
      role.builder.writtenInstance(value, item.item, item.iteration));
  if (cycle < 0) {
    return reject(role.builder.emitError, "V5",
                  formatv("expected something to write '{0}' to {1}, which "
                          "role '{2}' reads, got nothing",
                          role.kernel.values[value].name,
                          quote(place.name, slot.subtile), role.instance.name));
  }
  return CycleKey{&place, slot.subtile, cycle};
}

LogicalResult RoleRings::waitFull(const CycleKey &key, int part) {
  const Place &place = *key.place;
  if (!place.hasFull) {
    return success();
  }
  int &last = lastTaken[bound.ringOf(place, key.subtile) * maxParts + part];
  if (last >= key.cycle) {
    return reject(role.builder.emitError, "V7",
                  formatv("expected role '{0}' to take the cycles of {1} in "
                          "the order in which they are written, got cycle "
                          "{2} after {3}",
                          role.instance.name, quote(place.name, key.subtile),
                          key.cycle, last));
  }
  last = key.cycle;
  role.add(Token::Wait,
           place.fullBarrier(key.subtile, key.cycle % place.depth, part),
           key.cycle / place.depth);
  return success();
}

void RoleRings::waitFree(const CycleKey &key) {
  const Place &place = *key.place;
  if (place.hasFree && key.cycle >= place.depth) {
    role.add(Token::Wait,
             place.freeBarrier(key.subtile, key.cycle % place.depth),
             key.cycle / place.depth - 1);
  }
}

void RoleRings::release(const CycleKey &key) {
  Flight *reader = flights.findReader(key);
  if (!reader) {
    role.arriveFree(key);
  } else if (reader->engine != Engine::Mma || bound.awaitsProducts()) {
    reader->pending.push_back(key);
  } else if (key.place->hasFree) {
    role.commit(Signal{
        key.place->freeBarrier(key.subtile, key.cycle % key.place->depth),
        key.cycle / key.place->depth, role.index});
  }
}
