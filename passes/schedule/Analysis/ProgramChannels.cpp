// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits, acquires and releases of channels, and asynchronous operations.
#include "ProgramWriter.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Waits for a cycle, unless the role has done so. Each `get` that is emitted
/// waits for the ring's next cycle, so that two of one value are refused.
LogicalResult ProgramWriter::waitFull(const CycleKey &key, int part,
                                      bool isGet) {
  const Place &place = *key.place;
  if (!place.hasFull) {
    return success();
  }
  for (int p : builder.partsOf(place, part)) {
    unsigned bit = globalCycle(key) * maxParts + p;
    if (waited[bit] && !isGet) {
      continue;
    }
    waited.set(bit);
    int &last = lastTaken[bound.ringOf(place, key.subtile) * maxParts + p];
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
        bound.fullBarrier(place, key.subtile, key.cycle % place.depth, p),
        key.cycle / place.depth);
  }
  return success();
}

void ProgramWriter::acquire(const CycleKey &key) {
  const Place &place = *key.place;
  if (!place.channel || acquired[globalCycle(key)]) {
    return;
  }
  acquired.set(globalCycle(key));
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

/// A cycle is free when its last reader is done: at once, when the MMAs before
/// this point are done, or when the role has awaited the reader.
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

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

/// Operations of one pipe end in order, so those issued before end as well.
void ProgramWriter::awaitOperation(int operation) {
  auto awaited = llvm::find_if(flights, [&](const Flight &flight) {
    return flight.operation == operation;
  });
  if (awaited == flights.end()) {
    return;
  }
  int pipe = awaited->pipe;
  llvm::erase_if(flights, [&](const Flight &flight) {
    if (flight.pipe != pipe || flight.operation > operation) {
      return false;
    }
    add(Token::Await, flight.operation);
    for (const CycleKey &key : flight.pending) {
      arriveFree(key);
    }
    return true;
  });
}

static bool meet(ArrayRef<int> a, ArrayRef<Access> b) {
  return llvm::any_of(b, [&](const Access &access) {
    return llvm::is_contained(a, access.cell);
  });
}

/// Returns whether the result of an MMA in flight is among what is read.
bool ProgramWriter::needsResult(const Accesses &accesses,
                                const Flight &flight) const {
  return llvm::any_of(accesses.found, [&](const Site &site) {
    const ValueInstance &read = site.instance;
    return kernel.values[read.value].producer == flight.item->entry->target &&
           read.item == flight.item->item &&
           read.iteration == flight.item->iteration &&
           site.subtile == flight.item->entry->subtile;
  });
}

/// Returns whether an item computes anew what an MMA in flight reads.
bool ProgramWriter::remakesOperand(const Item &item,
                                   const Flight &flight) const {
  if (item.entry->act != Act::Op || builder.engineOf(item) != Engine::Threads) {
    return false;
  }
  const KernelStep &product = kernel.steps[flight.item->entry->target];
  return llvm::any_of(ArrayRef{product.a, product.b}, [&](int operand) {
    return operand >= 0 &&
           kernel.values[operand].producer == item.entry->target;
  });
}

/// Awaits MMAs whose result an item reads, or an operand of which it computes
/// anew. Stores and copies are awaited where the schedule says so and nowhere
/// else.
LogicalResult ProgramWriter::awaitConflicts(int x, const Accesses &accesses) {
  if (!bound.awaitsProducts()) {
    return checkConflicts(x, accesses);
  }
  int last = -1;
  for (const Flight &flight : flights) {
    if (flight.engine == Engine::Mma &&
        (needsResult(accesses, flight) || remakesOperand(items[x], flight))) {
      last = flight.operation;
    }
  }
  awaitOperation(last);
  return success();
}

/// Checks that an item touches nothing that MMAs in flight use, where the role
/// cannot await them. One tensor core works in order.
LogicalResult ProgramWriter::checkConflicts(int x,
                                            const Accesses &accesses) const {
  if (builder.engineOf(items[x]) == Engine::Mma) {
    return success();
  }
  for (const Flight &flight : flights) {
    if (flight.engine == Engine::Mma &&
        (meet(flight.writeCells, accesses.reads) ||
         meet(flight.writeCells, accesses.writes) ||
         meet(flight.readCells, accesses.writes))) {
      return reject(
          builder.emitError, "V21",
          formatv(
              "expected a barrier between {0} and {1} of role '{2}', "
              "which cannot await its own MMAs",
              protocol.describeItem({index, int(flight.item - items.data())}),
              protocol.describeItem({index, x}), instance.name));
    }
  }
  return success();
}

void ProgramWriter::writeAsync(int x, const Accesses &accesses) {
  const Item &item = items[x];
  Engine engine = builder.engineOf(item);
  SmallVector<Signal, 4> signals =
      builder.fullSignals(index, item, accesses.sites);
  // A copy that signals a barrier is not awaited by its role, and copies end in
  // any order.
  bool inPipe = engine != Engine::Copy || signals.empty();
  int operation = protocol.operations.size();
  Span reads = protocol.store(accesses.reads),
       writes = protocol.store(accesses.writes);
  add(Token::Issue, operation, 0, x);
  protocol.operations.push_back(
      {index, x, inPipe ? pipeOf(engine) : -1, reads, writes,
       protocol.store(engine == Engine::Mma ? ArrayRef<Signal>()
                                            : ArrayRef<Signal>(signals))});
  if (inPipe) {
    Flight &flight = flights.emplace_back();
    flight.operation = operation;
    flight.engine = engine;
    flight.pipe = pipeOf(engine);
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
    commit(signals);
  }
}
