// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The token program of one role, entry by entry.
#include "ProgramWriter.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int ProgramWriter::localCell(ValueInstance value, Subtile t) {
  std::pair<int64_t, int64_t> key = {(int64_t(index) << 32) | value.value,
                                     (int64_t(value.item) << 40) |
                                         (int64_t(value.iteration + 1) << 16) |
                                         (t + 1)};
  auto [it, isNew] = builder.localCells.try_emplace(key, protocol.cellCount);
  protocol.cellCount += isNew;
  return it->second;
}

LogicalResult ProgramWriter::collectReads(const Item &item, Accesses &out) {
  const Entry &entry = *item.entry;
  bool isStep = entry.act == Act::Op;
  for (int value : builder.valuesRead(item)) {
    SmallVector<Site, 4> sites;
    if (failed(builder.readSites(instance, item, value, sites))) {
      return failure();
    }
    llvm::append_range(out.found, sites);
    for (const Site &site : sites) {
      if (isReadAtBegin(site.place, value)) {
        continue;
      }
      Tag tag{site.instance.value, site.instance.item, site.instance.iteration,
              site.subtile};
      SmallVector<int> cells;
      if (site.place) {
        CycleKey key{site.place, site.subtile, site.cycle};
        int part = site.place->parts > 1 ? entry.part : -1;
        if (isStep && site.place->channel) {
          if (failed(waitFull(key, part))) {
            return failure();
          }
          out.cycles.push_back(key);
        }
        bound.appendCells(*site.place, site.subtile, site.cycle, part, value,
                          cells);
      } else {
        cells.push_back(localCell(site.instance, site.subtile));
      }
      // A later part of an MMA adds to what the parts before it left.
      if (isStep && entry.part > 0 &&
          kernel.steps[entry.target].accumulator == value) {
        tag = {-1 - entry.target, item.item, item.iteration, entry.subtile};
      }
      auto &list = kernel.values[value].isWork ? out.workReads : out.reads;
      for (int cell : cells) {
        list.push_back({cell, tag});
      }
    }
  }
  return success();
}

void ProgramWriter::collectWrites(const Item &item, Accesses &out) {
  const Entry &entry = *item.entry;
  Engine engine = builder.engineOf(item);
  out.sites = builder.writtenSites(item);
  for (const Site &site : out.sites) {
    acquire({site.place, site.subtile, site.cycle});
    Tag tag{site.instance.value, site.instance.item, site.instance.iteration,
            site.subtile};
    if (engine == Engine::Mma && !builder.isLastPart(item)) {
      tag = {-1 - entry.target, item.item, item.iteration, entry.subtile};
    }
    SmallVector<int> cells;
    bound.appendCells(*site.place, site.subtile, site.cycle,
                      site.place->parts > 1 ? entry.part : -1,
                      site.instance.value, cells);
    for (int cell : cells) {
      out.writes.push_back({cell, tag});
    }
  }
  if (entry.act != Act::Op || engine != Engine::Threads) {
    return;
  }
  for (int value : kernel.steps[entry.target].writes) {
    Subtile t = bound.axisOf(value).empty() ? whole : entry.subtile;
    ValueInstance written = builder.written(value, item.item, item.iteration);
    out.writes.push_back(
        {localCell(written, t), {value, written.item, written.iteration, t}});
  }
}

void ProgramWriter::writeThreads(int x, const Accesses &accesses) {
  Token &token = add(Token::Do, 0, 0, x);
  token.reads = protocol.store(accesses.reads);
  token.writes = protocol.store(accesses.writes);
  for (const Signal &signal :
       builder.fullSignals(index, items[x], accesses.sites)) {
    add(Token::Arrive, signal.barrier, signal.phase);
  }
}

LogicalResult ProgramWriter::writeStep(int x) {
  const Item &item = items[x];
  Accesses accesses;
  if (failed(collectReads(item, accesses))) {
    return failure();
  }
  collectWrites(item, accesses);
  if (failed(awaitConflicts(x, accesses))) {
    return failure();
  }
  if (!accesses.workReads.empty()) {
    // The issuing threads read the work item, not the engine.
    Token &token = add(Token::Do, 0, 0, x);
    token.reads = protocol.store(accesses.workReads);
  }
  if (builder.engineOf(item) == Engine::Threads) {
    writeThreads(x, accesses);
  } else {
    writeAsync(x, accesses);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

LogicalResult ProgramWriter::writeGet(const Item &item) {
  const Entry &entry = *item.entry;
  const Place *place = bound.channelOf(entry.target);
  int cycle = builder.cycles.find(
      *place, entry.subtile,
      builder.written(entry.target, item.item, item.iteration));
  if (cycle < 0) {
    return reject(builder.emitError, "V5",
                  formatv("expected something to write '{0}' to '{1}', which "
                          "role '{2}' waits for, got nothing",
                          kernel.values[entry.target].name, place->name,
                          instance.name));
  }
  CycleKey key{place, entry.subtile, cycle};
  if (failed(waitFull(key, -1, bound.awaitsProducts()))) {
    return failure();
  }
  if (item.kind == Item::Skip) {
    arriveFree(key);
  }
  return success();
}

void ProgramWriter::writeSignal(const Item &item) {
  const Entry &entry = *item.entry;
  const Edge &edge = bound.edges[entry.target];
  int barrier = bound.edgeBarrier(entry.target, entry.subtile);
  const BitVector &sources = bound.sources[barrier];
  int phase = builder.signalCount[barrier][index]++;
  if (edge.joins >= 0) {
    const Place &place = bound.places[edge.joins];
    barrier =
        bound.fullBarrier(place, entry.subtile, phase % place.depth, edge.part);
    phase /= place.depth;
  } else {
    phase += edge.credits;
  }
  for (int source : sources.set_bits()) {
    builder.expect(barrier, phase, source);
  }
  if (entry.act == Act::Commit) {
    commit(Signal{barrier, phase, index});
  } else {
    add(Token::Arrive, barrier, phase);
  }
}

void ProgramWriter::writeWait(const Item &item) {
  const Entry &entry = *item.entry;
  int barrier = bound.edgeBarrier(entry.target, entry.subtile);
  int phase = builder.waitCount[barrier][index]++;
  bool credited = phase < bound.edges[entry.target].credits;
  add(credited ? Token::Pass : Token::Wait, barrier, phase);
}

/// Awaits what is in flight of a step. Stores are awaited all at once.
void ProgramWriter::writeAwait(const Item &item) {
  const Entry &entry = *item.entry;
  bool isStore = kernel.steps[entry.target].engine == Engine::Store;
  SmallVector<int, 2> operations;
  for (const Flight &flight : flights) {
    const Entry &issued = *flight.item->entry;
    bool isOfStep = issued.act == Act::Op && issued.target == entry.target &&
                    issued.subtile == entry.subtile;
    bool isOfInstance = flight.item->item == item.item &&
                        flight.item->iteration == item.iteration;
    if (bound.awaitsProducts()
            ? isOfStep || (isStore && flight.engine == Engine::Store)
            : isOfStep && isOfInstance) {
      operations.push_back(flight.operation);
    }
  }
  for (int operation : operations) {
    awaitOperation(operation);
  }
}

/// Writes what a role does in a block that it skips: it waits for the slots and
/// gives them back, and passes its turns on.
LogicalResult ProgramWriter::writeSkipped(const Item &item) {
  switch (item.entry->act) {
  case Act::Get:
    return writeGet(item);
  case Act::Sig:
    writeSignal(item);
    return success();
  case Act::Wait:
    writeWait(item);
    return success();
  default:
    return success();
  }
}

/// Work items that one role hands out through a channel are read when they
/// begin: how often the loop runs depends on them.
bool ProgramWriter::isReadAtBegin(const Place *place, int value) const {
  return place && place->channel && place->hasFull &&
         kernel.values[value].isWork;
}

/// Reads a handed out work item and gives its slot back.
LogicalResult ProgramWriter::beginItem(int x) {
  int item = items[x].item;
  for (const Place &place : bound.places) {
    int value = place.cycles.front().front();
    if (!isReadAtBegin(&place, value) ||
        !bound.consumers[bound.ringOf(place, whole)][index]) {
      continue;
    }
    CycleKey key{&place, whole,
                 builder.cycles.find(place, whole, {value, item, -1})};
    if (key.cycle < 0) {
      return reject(builder.emitError, "V5",
                    formatv("expected something to write '{0}' to {1}, where "
                            "role '{2}' reads it, got nothing",
                            kernel.values[value].name, quote(place.name),
                            instance.name));
    }
    if (failed(waitFull(key, -1))) {
      return failure();
    }
    SmallVector<int> cells;
    bound.appendCells(place, whole, key.cycle, -1, value, cells);
    SmallVector<Access> reads;
    for (int cell : cells) {
      reads.push_back({cell, {value, item, -1, whole}});
    }
    add(Token::Do, 0, 0, x).reads = protocol.store(reads);
    wasRead.set(globalCycle(key));
    arriveFree(key);
  }
  return success();
}

/// Returns whether a slot from outside the loop goes back before the last step
/// of time: no entry reads it then.
bool ProgramWriter::isFreeEarly(int value) const {
  bool isShifted = false;
  for (const Entry &entry : instance.kv) {
    bool runsLate = entry.shift > 0 || entry.guard == Guard::Last;
    if (runsLate && entry.act == Act::Op &&
        llvm::is_contained(kernel.steps[entry.target].reads, value)) {
      return false;
    }
    isShifted |= entry.shift > 0;
  }
  return isShifted && bound.awaitsProducts();
}

/// Takes and gives back values of the work item that no iteration read;
/// `early`: those alone whose slots need not outlast the loop.
LogicalResult ProgramWriter::giveBackUnread(int item, bool early) {
  for (const Place &place : bound.places) {
    for (int t = whole; t < bound.subtileCount; ++t) {
      if (!place.channel || !bound.consumers[bound.ringOf(place, t)][index]) {
        continue;
      }
      for (const auto &values : place.cycles) {
        const KernelValue &first = kernel.values[values.front()];
        if (first.origin != Origin::Step || first.region != Section::Before) {
          continue;
        }
        CycleKey key{&place, t,
                     builder.cycles.find(place, t, {values.front(), item, -1})};
        if (key.cycle < 0 || wasRead[globalCycle(key)] ||
            (early && !isFreeEarly(values.front()))) {
          continue;
        }
        if (failed(waitFull(key, -1))) {
          return failure();
        }
        wasRead.set(globalCycle(key));
        arriveFree(key);
      }
    }
  }
  return success();
}

/// Awaits the products of a step of time, where roles await them, and what a
/// store or the work item's last operations hold.
void ProgramWriter::endIteration(bool itemEnds) {
  SmallVector<int, 4> operations;
  for (const Flight &flight : flights) {
    bool isProduct = flight.engine == Engine::Mma && bound.awaitsProducts();
    if (isProduct || (!flight.pending.empty() &&
                      (itemEnds || flight.engine == Engine::Store))) {
      operations.push_back(flight.operation);
    }
  }
  for (int operation : operations) {
    awaitOperation(operation);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// A cycle is released after its last reader; what all iterations of a work
/// item read, at the end of the last one.
LogicalResult ProgramWriter::planReleases() {
  struct Last {
    CycleKey key;
    int item = -1;
    bool atIterationEnd = false;
  };
  SmallVector<Last> last(builder.cycles.total());
  for (int x = 0, e = items.size(); x < e; ++x) {
    const Item &item = items[x];
    if (item.kind != Item::Run || item.entry->act != Act::Op) {
      continue;
    }
    const KernelStep &step = kernel.steps[item.entry->target];
    for (int value : step.reads) {
      SmallVector<Site, 4> sites;
      if (failed(builder.readSites(instance, item, value, sites))) {
        return failure();
      }
      for (const Site &site : sites) {
        if (site.place && site.place->channel &&
            !isReadAtBegin(site.place, value)) {
          CycleKey key{site.place, site.subtile, site.cycle};
          last[globalCycle(key)] = {key, x,
                                    step.region == Section::Loop &&
                                        !kernel.values[value].perIteration()};
          wasRead.set(globalCycle(key));
        }
      }
    }
  }
  for (const Last &entry : last) {
    int x = entry.item;
    while (entry.atIterationEnd && items[x].kind != Item::IterationEnd &&
           items[x].kind != Item::LoopEnd) {
      ++x;
    }
    if (x >= 0) {
      due[x].push_back(entry.key);
    }
  }
  return success();
}

LogicalResult ProgramWriter::writeItem(int x) {
  const Item &item = items[x];
  if (item.kind == Item::Skip) {
    return writeSkipped(item);
  }
  if (item.kind == Item::ItemBegin) {
    return beginItem(x);
  }
  if (item.kind == Item::Empty || item.kind == Item::LoopEnd) {
    return giveBackUnread(item.item, item.kind == Item::Empty);
  }
  if (item.kind != Item::Run) {
    endIteration(item.kind == Item::ItemEnd);
    return success();
  }
  switch (item.entry->act) {
  case Act::Op:
  case Act::Put:
    return writeStep(x);
  case Act::Get:
    return writeGet(item);
  case Act::Await:
    writeAwait(item);
    return success();
  case Act::Sig:
  case Act::Commit:
    writeSignal(item);
    return success();
  case Act::Wait:
    writeWait(item);
    return success();
  case Act::Sync: {
    int round = rounds[item.entry->target]++;
    add(Token::Meet, item.entry->target, round);
    return success();
  }
  default:
    return success(); // turns are edges by now
  }
}

LogicalResult ProgramWriter::write() {
  if (failed(planReleases())) {
    return failure();
  }
  for (int x = 0, e = items.size(); x < e; ++x) {
    if (failed(writeItem(x))) {
      return failure();
    }
    for (const CycleKey &key : due[x]) {
      release(key);
    }
  }
  return success();
}

LogicalResult sched::buildProgram(ProtocolBuilder &builder, int instance) {
  return ProgramWriter(builder, instance).write();
}
