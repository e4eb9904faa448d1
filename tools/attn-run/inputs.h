// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of Q, K and V: normal, or patterns that are hard for a softmax.

#ifndef ATTN_TOOLS_ATTN_RUN_INPUTS_H
#define ATTN_TOOLS_ATTN_RUN_INPUTS_H

#include "launch_plan.h"

#include <cstdint>
#include <string>

namespace attn::run {

struct Problem;

/// All patterns except Normal are added to normal elements; scores are in log2
/// units.
enum class Pattern {
  Normal,
  SpikeKey,    // the scores of one key are `units` above the others
  Low,         // all scores are near `units`
  Alternating, // alternating runs of 128 keys at 1e4 and -1e4
  Infinite,    // one element of K and one of V is infinite
  NaN,         // one element of K and one of V is NaN
  LargeV,      // V near its type's largest value, and scores in rising stairs
  Large,       // all scores are near `units`, for every other query near -units
  LargeRuns,   // the same for runs of 128 keys, alternating with runs near 0
};

struct Inputs {
  Pattern pattern = Pattern::Normal;
  int64_t key = 0;      // for SpikeKey, Infinite and NaN
  double units = 200;   // for SpikeKey, Low, Large and LargeRuns
  double factorOfV = 1; // for SpikeKey

  /// Whether some elements are infinite or NaN.
  bool hasNonFinite() const {
    return pattern == Pattern::Infinite || pattern == Pattern::NaN;
  }
  /// Whether scores may be beyond 2^24 log2 units.
  bool isLarge() const {
    return pattern == Pattern::Large || pattern == Pattern::LargeRuns;
  }
  /// If some elements are not finite: V's is in column 0 of this key.
  int64_t keyOfV() const { return key / 2; }
  /// In the syntax of --inputs.
  std::string spell() const;
};

/// Reads "normal", "spike-key:KEY[:UNITS[:FACTOR]]", "low[:UNITS]", ...;
/// returns false for any other text.
bool parseInputs(const std::string &text, Inputs &inputs);

/// Selects a pattern other than Normal, by `choice` in (0, 1], with large
/// scores by `size` in [-1, 1].
Inputs chooseInputs(double choice, int64_t key, double size);

/// Returns the element of the query, key or value, at `position` of its
/// sequence, whose value with normal inputs is `normal`.
float patternElement(const Problem &problem, runtime::Role tensor,
                     int64_t position, int64_t column, float normal);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_INPUTS_H
