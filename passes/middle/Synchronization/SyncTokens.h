// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of one agent, to which tokens are added step by step.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCTOKENS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCTOKENS_H

#include "SyncPrograms.h"

namespace attn {

class SyncTokens {
public:
  SyncTokens(SyncPrograms &programs, int index)
      : programs(programs), index(index), agent(programs.agents[index]),
        tokens(programs.programs.emplace_back()),
        operations(agent.steps.size(), -1) {}

  Token &add(Token::Kind kind, int first, int second = 0) {
    return tokens.emplace_back(Token{kind, first, second, step, {}, {}});
  }
  /// Adds a synchronous read or write of cells.
  void touch(Span reads, Span writes);
  void touch(llvm::ArrayRef<Access> reads, llvm::ArrayRef<Access> writes);
  /// Starts an asynchronous operation; with `pipe` -1 it has no order of
  /// completion.
  void issue(int pipe, Span reads, Span writes, Span signals = {});
  /// Waits for the end of the operation that a step issued.
  void await(int issued) { add(Token::Await, operations[issued]); }

  const SyncObject &objectOf(const SyncStep &step) const {
    return programs.events.objects()[step.event->object];
  }
  int barrier(const SyncStep &step, bool isFree, int64_t slot,
              int64_t cta) const {
    return programs.barriers.find(step.event->object, isFree, slot, cta);
  }
  /// The source for this agent's copies.
  int copies() const { return programs.agents.size() + index; }
  /// Returns the CTAs that an arrival at an object is for, the own CTA first.
  llvm::SmallVector<int64_t, 2> receivers(const SyncObject &object) const;

  SyncPrograms &programs;
  const int index;
  const SyncAgent &agent;
  int step = 0; // the current one

private:
  std::vector<Token> &tokens;
  std::vector<int> operations; // by step that issued one
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCTOKENS_H
