// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncTokens.h"

using namespace mlir;
using namespace attn;

void SyncTokens::touch(Span reads, Span writes) {
  Token &token = add(Token::Do, 0);
  token.reads = reads;
  token.writes = writes;
}

void SyncTokens::touch(ArrayRef<Access> reads, ArrayRef<Access> writes) {
  touch(programs.store(reads), programs.store(writes));
}

void SyncTokens::issue(int pipe, Span reads, Span writes, Span signals) {
  operations[step] = programs.operations.size();
  add(Token::Issue, operations[step]);
  programs.operations.push_back({index, step, pipe, reads, writes, signals});
}

SmallVector<int64_t, 2> SyncTokens::receivers(const SyncObject &object) const {
  SmallVector<int64_t, 2> ctas{agent.cta};
  if (object.inCluster) {
    for (int64_t i = 1; i < programs.ctas; ++i) {
      ctas.push_back((agent.cta + i) % programs.ctas);
    }
  }
  return ctas;
}
