// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers of a schedule.

#ifndef ATTN_SIM_CORE_RANDOM_H
#define ATTN_SIM_CORE_RANDOM_H

#include <cstdint>

namespace attn::sim {

/// A small seeded generator (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_RANDOM_H
