// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The token program of one role while it is written, and the tokens that
// several of its writers add.
#ifndef ATTN_PASSES_LIB_ANALYSIS_ROLETOKENS_H
#define ATTN_PASSES_LIB_ANALYSIS_ROLETOKENS_H

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

struct RoleTokens {
  RoleTokens(ProtocolBuilder &builder, int index)
      : builder(builder), protocol(builder.protocol), bound(builder.bound),
        kernel(builder.kernel), index(index), instance(bound.instances[index]),
        tokens(protocol.programs[index]) {}

  Token &add(Token::Kind kind, int first, int second = 0, int item = -1) {
    return tokens.emplace_back(Token{kind, first, second, item, {}, {}});
  }
  /// Arrives on the barrier at which producers wait for a slot.
  void arriveFree(const CycleKey &key) {
    const Place &place = *key.place;
    if (place.hasFree) {
      add(Token::Arrive,
          place.freeBarrier(key.subtile, key.cycle % place.depth),
          key.cycle / place.depth);
    }
  }
  /// Signals when all MMAs before this point are complete.
  void commit(ArrayRef<Signal> signals) {
    add(Token::Issue, protocol.operations.size());
    protocol.operations.push_back(
        {index, -1, pipeOf(Engine::Mma), {}, {}, protocol.store(signals)});
  }
  int pipeOf(Engine engine) const { return index * 3 + int(engine); }

  ProtocolBuilder &builder;
  Protocol &protocol;
  const BoundSchedule &bound;
  const KernelModel &kernel;
  int index;
  const Instance &instance;
  std::vector<Token> &tokens;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_ROLETOKENS_H
