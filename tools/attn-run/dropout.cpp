// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dropout.h"

#include "region.h"

#include <cmath>

using namespace attn::run;

static uint64_t multiply(uint32_t a, uint32_t b) { return uint64_t(a) * b; }
static uint32_t high(uint64_t wide) { return uint32_t(wide >> 32); }
static uint32_t low(uint64_t wide) { return uint32_t(wide); }

/// Philox4x32-10 of Salmon et al., Parallel random numbers: as easy as 1, 2, 3
/// (SC 2011).
static std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = multiply(0xD2511F53, counter[0]),
             b = multiply(0xCD9E8D57, counter[2]);
    counter = {high(b) ^ counter[1] ^ key[0], low(b),
               high(a) ^ counter[3] ^ key[1], low(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

/// Philox2x32-7.
static std::array<uint32_t, 2> philox2x32(std::array<uint32_t, 2> counter,
                                          uint32_t key) {
  for (int round = 0; round < 7; ++round) {
    uint64_t product = multiply(0xD256D193, counter[0]);
    counter = {high(product) ^ key ^ counter[1], low(product)};
    key += 0x9E3779B9;
  }
  return counter;
}

Dropout::Dropout(double rate, std::array<uint64_t, 2> state)
    : on(true), rate(float(rate)), state(state) {
  drop = uint32_t(std::floor(float(rate) * 65536.0F + 0.5F));
}

double Dropout::getFactor() const {
  return drop == 65536 ? 0 : 65536.0 / double(65536 - drop);
}

Dropout::OfRow::OfRow(const Dropout &of, const Row &row)
    : of(of), query(uint32_t(row.i)) {
  words = philox4x32({low(of.state[1]), high(of.state[1]), uint32_t(row.head),
                      uint32_t(row.batch)},
                     {low(of.state[0]), high(of.state[0])});
}

double Dropout::OfRow::factorOf(int64_t key) const {
  if (!of.on) {
    return 1;
  }
  constexpr uint32_t bit = 8;
  uint32_t j = uint32_t(key);
  auto pair =
      philox2x32({(j & ~bit) ^ words[0], (query & ~bit) ^ words[1]}, words[2]);
  uint32_t word = pair[(j & bit) != 0];
  uint32_t number = (query & bit) != 0 ? word >> 16 : word & 0xFFFF;
  return number < of.drop ? 0 : of.getFactor();
}
