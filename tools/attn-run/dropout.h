// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pairs of queries and keys that dropout keeps, by the definition in the
// description of attn.attention.

#ifndef ATTN_TOOLS_ATTN_RUN_DROPOUT_H
#define ATTN_TOOLS_ATTN_RUN_DROPOUT_H

#include <array>
#include <cstdint>

namespace attn::run {

/// A row of the score matrix: a query of a batch and head.
struct Row;

class Dropout {
public:
  /// Keeps all.
  Dropout() = default;
  Dropout(double rate, std::array<uint64_t, 2> state);

  /// Returns the factors of the weights of one row.
  class OfRow {
  public:
    OfRow(const Dropout &of, const Row &row);
    /// Returns 0 for a key that is dropped, otherwise the same factor.
    double factorOf(int64_t key) const;

  private:
    const Dropout &of;
    uint32_t query;
    std::array<uint32_t, 4> words;
  };

  bool isOn() const { return on; }
  const std::array<uint64_t, 2> &getState() const { return state; }
  float getRate() const { return rate; }
  /// The factor of the weights of keys that are kept; 0 if none is.
  double getFactor() const;

private:
  bool on = false;
  float rate = 0;
  uint32_t drop = 0; // pairs with a smaller number are dropped
  std::array<uint64_t, 2> state{};
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_DROPOUT_H
