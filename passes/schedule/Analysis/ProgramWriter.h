// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the token program of one role.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H
#define ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H

#include "ProtocolBuilder.h"

namespace attn::sched {

/// One cycle of a channel's ring.
struct CycleKey {
  const Place *place;
  Subtile subtile;
  int cycle;
  bool operator==(const CycleKey &other) const {
    return place == other.place && subtile == other.subtile &&
           cycle == other.cycle;
  }
};

/// An asynchronous operation whose end this role has not awaited.
struct Flight {
  int operation;
  Engine engine;
  int pipe;
  const Item *item; // that issued it
  SmallVector<int, 8> readCells, writeCells;
  SmallVector<CycleKey, 2> reads;   // channel cycles that it reads
  SmallVector<CycleKey, 2> pending; // to be released when it is awaited
};

class ProgramWriter {
public:
  ProgramWriter(ProtocolBuilder &builder, int index)
      : builder(builder), protocol(builder.protocol), bound(builder.bound),
        kernel(builder.kernel), index(index), instance(bound.instances[index]),
        items(protocol.items[index]), tokens(protocol.programs[index]) {
    for (const Place &place : bound.places) {
      maxParts = std::max(maxParts, place.parts);
    }
    lastTaken.assign(bound.places.size() * (bound.subtileCount + 1) * maxParts,
                     -1);
  }

  LogicalResult write();

private:
  struct Accesses {
    SmallVector<Access, 8> reads, workReads, writes;
    SmallVector<CycleKey, 4> cycles;
    SmallVector<Site, 4> sites; // written
  };

  LogicalResult writeItem(int x);
  LogicalResult writeStep(int x);
  LogicalResult collectReads(const Item &item, Accesses &out);
  void collectWrites(const Item &item, Accesses &out);
  void writeThreads(int x, const Accesses &accesses);
  void writeAsync(int x, const Accesses &accesses);
  void readItem(int x, const CycleKey &key);
  void writeSignal(const Item &item);
  void writeWaitEdge(const Item &item);

  // ProgramChannels.cpp
  FailureOr<CycleKey> cycleOf(const Item &item, const SlotRef &slot) const;
  LogicalResult writeSlotAct(int x);
  LogicalResult waitFull(const CycleKey &key, int part);
  void waitFree(const CycleKey &key);
  void release(const CycleKey &key);
  void arriveFree(const CycleKey &key);
  void commit(ArrayRef<Signal> signals);

  // ProgramAwaits.cpp
  void awaitOperation(int operation);
  void awaitConflicts(const Item &item);
  const PlannedActs &sectionOf(const Item &item) const;
  void awaitProducts();
  void writeAwait(const Item &item);
  LogicalResult checkConflicts(int x, const Accesses &accesses) const;

  Token &add(Token::Kind kind, int first, int second = 0, int item = -1) {
    return tokens.emplace_back(Token{kind, first, second, item, {}, {}});
  }
  int localCell(ValueInstance instance, Subtile t);
  int pipeOf(Engine engine) const { return index * 3 + int(engine); }

  ProtocolBuilder &builder;
  Protocol &protocol;
  const BoundSchedule &bound;
  const KernelModel &kernel;
  int index;
  const Instance &instance;
  ArrayRef<Item> items;
  std::vector<Token> &tokens;
  int maxParts = 1;
  SmallVector<int> lastTaken; // by ring and part
  std::vector<Flight> flights;
  llvm::DenseMap<int, int> rounds; // of each rendezvous
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H
