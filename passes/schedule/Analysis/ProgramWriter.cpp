// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the token program of one role, act by act.
#include "ProgramWriter.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

ProgramWriter::ProgramWriter(ProtocolBuilder &builder, int index)
    : role(builder, index), flights(role), rings(role, flights),
      builder(builder), protocol(builder.protocol), bound(builder.bound),
      kernel(builder.kernel), items(protocol.items[index]),
      span(*llvm::max_element(builder.trips) + 1) {
  localCells.assign(kernel.values.size() * (builder.trips.size() + 1) * span *
                        (bound.subtileCount + 1),
                    -1);
}

/// Returns the cell of a value in the role's registers.
int ProgramWriter::localCell(ValueInstance value, Subtile t) {
  int itemOfValue = value.value * (builder.trips.size() + 1) + value.item;
  int row = itemOfValue * span + value.iteration + 1;
  int &cell = localCells[row * (bound.subtileCount + 1) + t + 1];
  if (cell < 0) {
    cell = protocol.cellCount++;
  }
  return cell;
}

LogicalResult ProgramWriter::collectReads(const Item &item, Accesses &out) {
  const PlannedAct &act = *item.act;
  bool isStep = act.kind == PlannedAct::Run;
  for (int value : builder.valuesRead(item)) {
    SmallVector<Site, 4> sites;
    if (failed(builder.readSites(role.instance, item, value, sites))) {
      return failure();
    }
    for (const Site &site : sites) {
      if (site.place && bound.isReadAtItemBegin(*site.place, value)) {
        continue;
      }
      Tag tag{site.instance.value, site.instance.item, site.instance.iteration,
              site.subtile};
      SmallVector<int> cells;
      if (site.place) {
        if (isStep && site.place->channel) {
          out.cycles.push_back({site.place, site.subtile, site.cycle});
        }
        int part = site.place->parts > 1 ? act.part : -1;
        bound.appendCells(*site.place, site.subtile, site.cycle, part, value,
                          cells);
      } else {
        cells.push_back(localCell(site.instance, site.subtile));
      }
      // A later part of an MMA adds to the result of the parts before it.
      if (isStep && act.part > 0 &&
          kernel.steps[act.target].accumulator == value) {
        tag = {-1 - act.target, item.item, item.iteration, act.subtile};
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
  const PlannedAct &act = *item.act;
  Engine engine = builder.engineOf(item);
  out.sites = builder.writtenSites(item);
  for (const Site &site : out.sites) {
    Tag tag{site.instance.value, site.instance.item, site.instance.iteration,
            site.subtile};
    if (engine == Engine::Mma && !builder.isLastPart(item)) {
      tag = {-1 - act.target, item.item, item.iteration, act.subtile};
    }
    SmallVector<int> cells;
    bound.appendCells(*site.place, site.subtile, site.cycle,
                      site.place->parts > 1 ? act.part : -1,
                      site.instance.value, cells);
    for (int cell : cells) {
      out.writes.push_back({cell, tag});
    }
  }
  if (act.kind != PlannedAct::Run || engine != Engine::Threads) {
    return;
  }
  for (int value : kernel.steps[act.target].writes) {
    Subtile t = bound.axisOf(value).empty() ? whole : act.subtile;
    ValueInstance written =
        builder.writtenInstance(value, item.item, item.iteration);
    out.writes.push_back(
        {localCell(written, t), {value, written.item, written.iteration, t}});
  }
}

void ProgramWriter::writeThreads(int x, const Accesses &accesses) {
  Token &token = role.add(Token::Do, 0, 0, x);
  token.reads = protocol.store(accesses.reads);
  token.writes = protocol.store(accesses.writes);
  for (const Signal &signal :
       builder.fullSignals(role.index, items[x], accesses.sites)) {
    role.add(Token::Arrive, signal.barrier, signal.phase);
  }
}

void ProgramWriter::writeAsync(int x, const Accesses &accesses) {
  const Item &item = items[x];
  Engine engine = builder.engineOf(item);
  SmallVector<Signal, 4> signals =
      builder.fullSignals(role.index, item, accesses.sites);
  // The role does not await a copy that signals a barrier, and copies end in
  // any order.
  bool inPipe = engine != Engine::Copy || signals.empty();
  int operation = protocol.operations.size();
  Span reads = protocol.store(accesses.reads),
       writes = protocol.store(accesses.writes);
  role.add(Token::Issue, operation, 0, x);
  protocol.operations.push_back(
      {role.index, x, inPipe ? role.pipeOf(engine) : -1, reads, writes,
       protocol.store(engine == Engine::Mma ? ArrayRef<Signal>()
                                            : ArrayRef<Signal>(signals))});
  if (inPipe) {
    Flight &flight = flights.issue();
    flight.operation = operation;
    flight.engine = engine;
    flight.pipe = role.pipeOf(engine);
    flight.item = &item;
    for (const Access &access : accesses.reads) {
      flight.readCells.push_back(access.cell);
    }
    for (const Access &access : accesses.writes) {
      flight.writeCells.push_back(access.cell);
    }
    llvm::append_range(flight.reads, accesses.cycles);
  }
  if (engine == Engine::Mma && !signals.empty()) {
    role.commit(signals);
  }
}

LogicalResult ProgramWriter::writeStep(int x) {
  const Item &item = items[x];
  Accesses accesses;
  if (failed(collectReads(item, accesses))) {
    return failure();
  }
  collectWrites(item, accesses);
  flights.awaitListed(item);
  if (failed(flights.checkConflicts(item, accesses.reads, accesses.writes))) {
    return failure();
  }
  if (!accesses.workReads.empty()) {
    // The issuing threads read the work item, not the copy engine.
    Token &token = role.add(Token::Do, 0, 0, x);
    token.reads = protocol.store(accesses.workReads);
  }
  if (builder.engineOf(item) == Engine::Threads) {
    writeThreads(x, accesses);
  } else {
    writeAsync(x, accesses);
  }
  for (const SlotRef &slot : item.act->releases) {
    FailureOr<CycleKey> key = rings.cycleOf(item, slot);
    if (failed(key)) {
      return failure();
    }
    rings.release(*key);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Other acts
//===----------------------------------------------------------------------===//

void ProgramWriter::writeSignal(const Item &item) {
  const PlannedAct &act = *item.act;
  const Edge &edge = bound.edges[act.target];
  int barrier = edge.barrier(act.subtile);
  const BitVector &sources = bound.sources[barrier];
  int phase = builder.signalCount[barrier][role.index]++;
  if (edge.joins >= 0) {
    const Place &place = bound.places[edge.joins];
    barrier = place.fullBarrier(act.subtile, phase % place.depth, edge.part);
    phase /= place.depth;
  } else {
    phase += edge.credits;
  }
  for (int source : sources.set_bits()) {
    builder.expect(barrier, phase, source);
  }
  if (act.kind == PlannedAct::Commit) {
    role.commit(Signal{barrier, phase, role.index});
  } else {
    role.add(Token::Arrive, barrier, phase);
  }
}

void ProgramWriter::writeWaitEdge(const Item &item) {
  const PlannedAct &act = *item.act;
  const Edge &edge = bound.edges[act.target];
  int barrier = edge.barrier(act.subtile);
  int phase = builder.waitCount[barrier][role.index]++;
  bool credited = phase < edge.credits;
  role.add(credited ? Token::Pass : Token::Wait, barrier, phase);
}

LogicalResult ProgramWriter::writeSlotAct(int x) {
  const PlannedAct &act = *items[x].act;
  FailureOr<CycleKey> key = rings.cycleOf(items[x], act.slot);
  if (failed(key)) {
    return failure();
  }
  switch (act.kind) {
  case PlannedAct::Wait:
    return rings.waitFull(*key, act.part);
  case PlannedAct::Acquire:
    rings.waitFree(*key);
    return success();
  case PlannedAct::Release:
    rings.release(*key);
    return success();
  default:
    readSlot(x, *key);
    return success();
  }
}

/// Threads read a work item that was handed out, or a row vector.
void ProgramWriter::readSlot(int x, const CycleKey &key) {
  int value = items[x].act->target;
  SmallVector<int> cells;
  bound.appendCells(*key.place, whole, key.cycle, -1, value, cells);
  SmallVector<Access> reads;
  for (int cell : cells) {
    reads.push_back({cell, {value, items[x].item, items[x].iteration, whole}});
  }
  role.add(Token::Do, 0, 0, x).reads = protocol.store(reads);
}

LogicalResult ProgramWriter::writeItem(int x) {
  const Item &item = items[x];
  switch (item.act->kind) {
  case PlannedAct::Run:
  case PlannedAct::Put:
    return writeStep(x);
  case PlannedAct::Wait:
  case PlannedAct::Acquire:
  case PlannedAct::Release:
  case PlannedAct::ReadItem:
  case PlannedAct::ReadRow:
    return writeSlotAct(x);
  case PlannedAct::Await:
    flights.awaitStep(item);
    return success();
  case PlannedAct::AwaitProducts:
    flights.awaitProducts();
    return success();
  case PlannedAct::Signal:
  case PlannedAct::Commit:
    writeSignal(item);
    return success();
  case PlannedAct::WaitEdge:
    writeWaitEdge(item);
    return success();
  case PlannedAct::Meet: {
    int round = rounds[item.act->target]++;
    role.add(Token::Meet, item.act->target, round);
    return success();
  }
  case PlannedAct::AwaitFirstRun: // The judge does not model second runs.
  case PlannedAct::FetchItem:
    return success();
  }
  return failure();
}

LogicalResult ProgramWriter::write() {
  for (int x = 0, e = items.size(); x < e; ++x) {
    if (failed(writeItem(x))) {
      return failure();
    }
  }
  return success();
}

LogicalResult sched::buildProgram(ProtocolBuilder &builder, int instance) {
  return ProgramWriter(builder, instance).write();
}
