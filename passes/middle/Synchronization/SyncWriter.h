// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the tokens of one agent, step by step.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCWRITER_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCWRITER_H

#include "SyncPrograms.h"

namespace attn {

class SyncWriter {
public:
  SyncWriter(SyncPrograms &programs, int index)
      : programs(programs), events(programs.events), index(index),
        agent(programs.agents[index]), tokens(programs.programs.emplace_back()),
        operations(agent.steps.size(), -1) {}

  void write();

private:
  void writeStep(const SyncStep &step);
  void writeChannel(const SyncStep &step);
  void writeMma(const SyncStep &step);
  void writePut(const SyncStep &step);
  void writeStore(const SyncStep &step);
  void awaitStores();
  void giveVerdict(const SyncStep &step);
  void takeVerdict(const SyncStep &step);
  void sendItem(const SyncStep &step);
  void receiveItem(const SyncStep &step);
  Span cellOfItem(int cell, const SyncStep &step);
  void writeTurn(const SyncStep &step);
  void writeEdge(const SyncStep &step);
  void touch(Span reads, Span writes);
  void issue(AsyncOp operation);
  /// Arrives on, or waits for, the next phase of a barrier that has credits.
  void arriveNext(int barrier, int64_t credits);
  void waitNext(int barrier, int64_t credits);

  /// What this agent expects in a slot or piece that it reads in `item`.
  Tag tagOf(SlotRef slot, int item) const;
  /// All of a slot or piece of this CTA.
  void appendCells(SlotRef slot, Tag tag, llvm::SmallVectorImpl<Access> &list);
  Span cellsOf(SlotRef slot, Tag tag);
  /// This CTA's share of a slot in all CTAs of the cluster.
  Span shareOf(SlotRef slot, Tag tag);
  int cellOf(int cell, int64_t cta, int64_t sharer) const {
    return (cta * programs.memory.cellCount() + cell) * programs.ctas + sharer;
  }
  CellRange rangeOf(SlotRef slot) const;
  /// The CTAs that an arrival at an object is for, its own first.
  llvm::SmallVector<int64_t, 2> receivers(unsigned object) const;
  Token &add(Token::Kind kind, int first, int second = 0) {
    return tokens.emplace_back(Token{kind, first, second, step, {}, {}});
  }
  const SyncObject &objectOf(const SyncStep &step) const {
    return events.objects()[step.event->object];
  }

  SyncPrograms &programs;
  const SyncEvents &events;
  int index;
  const SyncAgent &agent;
  std::vector<Token> &tokens;
  int step = 0;                                      // the current one
  std::vector<int> operations;                       // by step that issued one
  llvm::SmallVector<int> stores;                     // not awaited
  llvm::DenseMap<std::pair<int, int64_t>, Tag> puts; // the last, by piece
  llvm::DenseMap<int, int> arrived, waited;          // phases, by barrier
  llvm::DenseMap<int, int> rounds;                   // by rendezvous
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCWRITER_H
