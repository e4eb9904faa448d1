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
    waited.resize(builder.cycles.total() * maxParts);
    acquired.resize(builder.cycles.total());
    wasRead.resize(builder.cycles.total());
    lastTaken.assign(bound.places.size() * (bound.subtileCount + 1) * maxParts,
                     -1);
    due.resize(items.size());
  }

  LogicalResult write();

private:
  struct Accesses {
    SmallVector<Access, 8> reads, workReads, writes;
    SmallVector<CycleKey, 4> cycles;
    SmallVector<Site, 4> sites; // written
    SmallVector<Site, 4> found; // read
  };

  LogicalResult planReleases();
  LogicalResult writeItem(int x);
  LogicalResult writeStep(int x);
  LogicalResult collectReads(const Item &item, Accesses &out);
  void collectWrites(const Item &item, Accesses &out);
  LogicalResult awaitConflicts(int x, const Accesses &accesses);
  LogicalResult checkConflicts(int x, const Accesses &accesses) const;
  bool needsResult(const Accesses &accesses, const Flight &flight) const;
  bool remakesOperand(const Item &item, const Flight &flight) const;
  void writeThreads(int x, const Accesses &accesses);
  void writeAsync(int x, const Accesses &accesses);
  LogicalResult writeGet(const Item &item);
  LogicalResult writeSkipped(const Item &item);
  void writeSignal(const Item &item);
  void writeWait(const Item &item);
  void writeAwait(const Item &item);
  bool isReadAtBegin(const Place *place, int value) const;
  LogicalResult beginItem(int x);
  bool isFreeEarly(int value) const;
  LogicalResult giveBackUnread(int item, bool early);
  void endIteration(bool itemEnds);

  LogicalResult waitFull(const CycleKey &key, int part, bool isGet = false);
  void acquire(const CycleKey &key);
  void awaitOperation(int operation);
  void release(const CycleKey &key);
  void arriveFree(const CycleKey &key);
  void commit(ArrayRef<Signal> signals);

  Token &add(Token::Kind kind, int first, int second = 0, int item = -1) {
    return tokens.emplace_back(Token{kind, first, second, item, {}, {}});
  }
  int localCell(ValueInstance instance, Subtile t);
  int globalCycle(const CycleKey &key) const {
    return builder.cycles.global(*key.place, key.subtile, key.cycle);
  }
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
  BitVector waited, acquired, wasRead;       // by cycle of any ring
  SmallVector<int> lastTaken;                // by ring and part
  SmallVector<SmallVector<CycleKey, 2>> due; // by item: releases after it
  std::vector<Flight> flights;
  llvm::DenseMap<int, int> rounds; // of each rendezvous
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H
