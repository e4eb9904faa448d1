// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchanges and reductions among the lanes of a warp (PTX ISA, "shfl.sync",
// "vote.sync", "match.sync", "redux.sync", "elect.sync").

#ifndef ATTN_SIM_UNITS_WARP_OPS_H
#define ATTN_SIM_UNITS_WARP_OPS_H

#include "units/bits.h"

namespace attn::sim {

enum class ShuffleMode : uint8_t { Up, Down, Bfly, Idx };

/// Where a lane reads from. `valid` is the predicate result; if false, the lane
/// reads itself.
struct ShuffleSource {
  uint32_t lane;
  bool valid;
};
/// `b`: lane or delta (its low 5 bits count); `c`: clamp in bits 0-4, segment
/// mask in bits 8-12.
ShuffleSource shuffleSource(ShuffleMode mode, uint32_t lane, uint32_t b,
                            uint32_t c);

/// The whole instruction for the lanes of `mask`. b and c are per lane. Returns
/// the lanes of `mask` that read a lane outside it (undefined by PTX; they get
/// that lane's register all the same). Other lanes' results are untouched.
uint32_t shuffle(ShuffleMode mode, const uint32_t value[kWarpSize],
                 const uint32_t b[kWarpSize], const uint32_t c[kWarpSize],
                 uint32_t mask, uint32_t out[kWarpSize], uint32_t *valid);

/// vote.sync over the lanes of `mask`; `predicates` has a bit a lane.
bool voteAll(uint32_t predicates, uint32_t mask);
bool voteAny(uint32_t predicates, uint32_t mask);
bool voteUniform(uint32_t predicates, uint32_t mask);
uint32_t voteBallot(uint32_t predicates, uint32_t mask);

/// match.any: per lane, the lanes with an equal value. match.all: `mask` if all
/// are equal, else 0. `values` are b32 or b64.
void matchAny(const uint64_t values[kWarpSize], uint32_t mask,
              uint32_t out[kWarpSize]);
uint32_t matchAll(const uint64_t values[kWarpSize], uint32_t mask);

enum class ReduxOp : uint8_t {
  Add,
  MinS32,
  MaxS32,
  MinU32,
  MaxU32,
  And,
  Or,
  Xor
};
uint32_t redux(ReduxOp op, const uint32_t values[kWarpSize], uint32_t mask);
/// redux.sync.{min,max}{.abs}{.NaN}.f32.
uint32_t reduxF32(bool max, bool abs, bool propagateNaN,
                  const uint32_t values[kWarpSize], uint32_t mask);

/// elect.sync: the lowest lane of a non-empty mask.
uint32_t electLeader(uint32_t mask);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_WARP_OPS_H
