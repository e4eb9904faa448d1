// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits for the slots of channels, and their releases.
#include "ProgramWriter.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Returns the cycle that a slot means in the iteration of `item`.
FailureOr<CycleKey> ProgramWriter::cycleOf(const Item &item,
                                           const SlotRef &slot) const {
  const Place &place = bound.places[slot.place];
  int value = place.cycles[slot.alternative].front();
  int cycle = builder.cycles.find(
      place, slot.subtile, builder.written(value, item.item, item.iteration));
  if (cycle < 0) {
    return reject(builder.emitError, "V5",
                  formatv("expected something to write '{0}' to {1}, which "
                          "role '{2}' reads, got nothing",
                          kernel.values[value].name,
                          quote(place.name, slot.subtile), instance.name));
  }
  return CycleKey{&place, slot.subtile, cycle};
}

LogicalResult ProgramWriter::writeSlotAct(int x) {
  const PlannedAct &act = *items[x].act;
  FailureOr<CycleKey> key = cycleOf(items[x], act.slot);
  if (failed(key)) {
    return failure();
  }
  switch (act.kind) {
  case PlannedAct::Wait:
    return waitFull(*key, act.part);
  case PlannedAct::Acquire:
    waitFree(*key);
    return success();
  case PlannedAct::Release:
    release(*key);
    return success();
  default:
    readItem(x, *key);
    return success();
  }
}

/// Each wait is for the ring's next cycle that the role reads.
LogicalResult ProgramWriter::waitFull(const CycleKey &key, int part) {
  const Place &place = *key.place;
  if (!place.hasFull) {
    return success();
  }
  int &last = lastTaken[bound.ringOf(place, key.subtile) * maxParts + part];
  if (last >= key.cycle) {
    return reject(builder.emitError, "V7",
                  formatv("expected role '{0}' to take the cycles of {1} in "
                          "the order in which they are written, got cycle "
                          "{2} after {3}",
                          instance.name, quote(place.name, key.subtile),
                          key.cycle, last));
  }
  last = key.cycle;
  add(Token::Wait,
      bound.fullBarrier(place, key.subtile, key.cycle % place.depth, part),
      key.cycle / place.depth);
  return success();
}

void ProgramWriter::waitFree(const CycleKey &key) {
  const Place &place = *key.place;
  if (place.hasFree && key.cycle >= place.depth) {
    add(Token::Wait,
        bound.freeBarrier(place, key.subtile, key.cycle % place.depth),
        key.cycle / place.depth - 1);
  }
}

void ProgramWriter::arriveFree(const CycleKey &key) {
  const Place &place = *key.place;
  if (place.hasFree) {
    add(Token::Arrive,
        bound.freeBarrier(place, key.subtile, key.cycle % place.depth),
        key.cycle / place.depth);
  }
}

/// Gives a slot back: at once, when the MMAs before this point are done, or
/// when the role has awaited the operation that reads it.
void ProgramWriter::release(const CycleKey &key) {
  Flight *reader = nullptr;
  for (Flight &flight : flights) {
    if (llvm::is_contained(flight.reads, key)) {
      reader = &flight;
    }
  }
  if (!reader) {
    arriveFree(key);
  } else if (reader->engine != Engine::Mma || bound.awaitsProducts()) {
    reader->pending.push_back(key);
  } else if (key.place->hasFree) {
    commit(Signal{bound.freeBarrier(*key.place, key.subtile,
                                    key.cycle % key.place->depth),
                  key.cycle / key.place->depth, index});
  }
}

void ProgramWriter::commit(ArrayRef<Signal> list) {
  add(Token::Issue, protocol.operations.size());
  protocol.operations.push_back(
      {index, -1, pipeOf(Engine::Mma), {}, {}, protocol.store(list)});
}
