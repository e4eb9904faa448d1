// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/warp_ops.h"
#include "units/f32_math.h"

using namespace attn::sim;

ShuffleSource attn::sim::shuffleSource(ShuffleMode mode, uint32_t lane,
                                       uint32_t b, uint32_t c) {
  uint32_t clamp = c & 31;
  uint32_t segment = (c >> 8) & 31;
  uint32_t delta = b & 31;
  uint32_t maxLane = (lane & segment) | (clamp & ~segment);
  uint32_t minLane = lane & segment;
  int from = int(lane);
  bool valid = false;
  switch (mode) {
  case ShuffleMode::Up:
    from = int(lane) - int(delta);
    valid = from >= int(maxLane);
    break;
  case ShuffleMode::Down:
    from = int(lane + delta);
    valid = from <= int(maxLane);
    break;
  case ShuffleMode::Bfly:
    from = int(lane ^ delta);
    valid = from <= int(maxLane);
    break;
  case ShuffleMode::Idx:
    from = int(minLane | (delta & ~segment));
    valid = from <= int(maxLane);
    break;
  }
  return valid ? ShuffleSource{uint32_t(from), true}
               : ShuffleSource{lane, false};
}

uint32_t attn::sim::shuffle(ShuffleMode mode, const uint32_t value[kWarpSize],
                            const uint32_t b[kWarpSize],
                            const uint32_t c[kWarpSize], uint32_t mask,
                            uint32_t out[kWarpSize], uint32_t *valid) {
  uint32_t result[kWarpSize];
  uint32_t undefined = 0;
  uint32_t validLanes = 0;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    ShuffleSource source = shuffleSource(mode, lane, b[lane], c[lane]);
    result[lane] = value[source.lane];
    undefined |= uint32_t(!((mask >> source.lane) & 1)) << lane;
    validLanes |= uint32_t(source.valid) << lane;
  }
  // `out` may be `value`.
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane) & 1) {
      out[lane] = result[lane];
    }
  }
  if (valid) {
    *valid = validLanes & mask;
  }
  return undefined & mask;
}

bool attn::sim::voteAll(uint32_t predicates, uint32_t mask) {
  return (predicates & mask) == mask;
}

bool attn::sim::voteAny(uint32_t predicates, uint32_t mask) {
  return (predicates & mask) != 0;
}

bool attn::sim::voteUniform(uint32_t predicates, uint32_t mask) {
  return voteAll(predicates, mask) || !voteAny(predicates, mask);
}

uint32_t attn::sim::voteBallot(uint32_t predicates, uint32_t mask) {
  return predicates & mask;
}

void attn::sim::matchAny(const uint64_t values[kWarpSize], uint32_t mask,
                         uint32_t out[kWarpSize]) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!((mask >> lane) & 1)) {
      continue;
    }
    uint32_t equal = 0;
    for (int other = 0; other < kWarpSize; ++other) {
      equal |= uint32_t(values[other] == values[lane]) << other;
    }
    out[lane] = equal & mask;
  }
}

uint32_t attn::sim::matchAll(const uint64_t values[kWarpSize], uint32_t mask) {
  if (!mask) {
    return 0;
  }
  uint64_t first = values[electLeader(mask)];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane) & 1 && values[lane] != first) {
      return 0;
    }
  }
  return mask;
}

static uint32_t reduxPair(ReduxOp op, uint32_t a, uint32_t b) {
  switch (op) {
  case ReduxOp::Add:
    return a + b;
  case ReduxOp::MinS32:
    return int32_t(a) < int32_t(b) ? a : b;
  case ReduxOp::MaxS32:
    return int32_t(a) < int32_t(b) ? b : a;
  case ReduxOp::MinU32:
    return a < b ? a : b;
  case ReduxOp::MaxU32:
    return a < b ? b : a;
  case ReduxOp::And:
    return a & b;
  case ReduxOp::Or:
    return a | b;
  case ReduxOp::Xor:
    return a ^ b;
  }
  return a;
}

/// Combines the lanes of `mask` in ascending order; 0 if there are none.
template <typename Pair>
static uint32_t fold(const uint32_t values[kWarpSize], uint32_t mask,
                     Pair pair) {
  if (!mask) {
    return 0;
  }
  uint32_t first = electLeader(mask);
  uint32_t result = values[first];
  for (uint32_t lane = first + 1; lane < kWarpSize; ++lane) {
    if ((mask >> lane) & 1) {
      result = pair(result, values[lane]);
    }
  }
  return result;
}

uint32_t attn::sim::redux(ReduxOp op, const uint32_t values[kWarpSize],
                          uint32_t mask) {
  return fold(values, mask,
              [op](uint32_t a, uint32_t b) { return reduxPair(op, a, b); });
}

uint32_t attn::sim::reduxF32(bool max, bool abs, bool propagateNaN,
                             const uint32_t values[kWarpSize], uint32_t mask) {
  MinMaxMode mode;
  mode.propagateNaN = propagateNaN;
  uint32_t bits = abs ? 0x7FFFFFFF : 0xFFFFFFFF;
  auto pair = [&](uint32_t a, uint32_t b) {
    float x = f32FromBits(a & bits);
    float y = f32FromBits(b & bits);
    return toBits(max ? maxF32(x, y, mode) : minF32(x, y, mode));
  };
  // One lane alone is combined with itself, for the sign and the NaN.
  uint32_t result = fold(values, mask, pair);
  return mask ? pair(result, result) : 0;
}

uint32_t attn::sim::electLeader(uint32_t mask) {
  return uint32_t(__builtin_ctz(mask));
}
