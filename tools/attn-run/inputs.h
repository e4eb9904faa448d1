// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the elements of Q, K and V are: normal, or patterns that a softmax can
// go wrong on.

#ifndef ATTN_TOOLS_ATTN_RUN_INPUTS_H
#define ATTN_TOOLS_ATTN_RUN_INPUTS_H

#include <cstdint>
#include <string>

namespace attn::run {

struct Problem;

/// All but Normal add to normal elements; scores are in log2 units.
enum class Pattern {
  Normal,
  SpikeKey,    // the scores of one key lie `units` above the others
  Low,         // all scores lie at -1000
  Alternating, // runs of 128 keys at 1e4 and -1e4 take turns
  Infinite,    // one element of K and one of V is infinite
  NaN,         // one element of K and one of V is NaN
  LargeV,      // V close to its type's largest, and scores in rising stairs
  Large,       // all scores lie near `units`, for every other query near -units
  LargeRuns,   // so do those of runs of 128 keys, and others at 0, in turns
};

struct Inputs {
  Pattern pattern = Pattern::Normal;
  int64_t key = 0;      // of SpikeKey, Infinite and NaN
  double units = 200;   // of SpikeKey, Large and LargeRuns
  double factorOfV = 1; // of SpikeKey

  /// Whether some elements are infinite or NaN.
  bool hasNonFinite() const {
    return pattern == Pattern::Infinite || pattern == Pattern::NaN;
  }
  /// Whether scores may be beyond 2^24 log2 units.
  bool isLarge() const {
    return pattern == Pattern::Large || pattern == Pattern::LargeRuns;
  }
  /// Where some are not finite: V's element is in column 0 of this key.
  int64_t keyOfV() const { return key / 2; }
  /// As --inputs takes it.
  std::string spell() const;
};

/// Reads "normal", "spike-key:KEY[:UNITS[:FACTOR]]", "large:UNITS", ...; false
/// if it is none.
bool parseInputs(const std::string &text, Inputs &inputs);

/// One of the patterns but Normal, by `choice` in (0, 1], with large scores by
/// `size` in [-1, 1].
Inputs chooseInputs(double choice, int64_t key, double size);

/// The element of 'q', 'k' or 'v' that is `normal` with normal inputs, at
/// `position` of its sequence.
float patternElement(const Problem &problem, char tensor, int64_t position,
                     int64_t column, float normal);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_INPUTS_H
