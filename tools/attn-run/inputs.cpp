// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inputs.h"

#include "problem.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace attn;
using namespace attn::run;

namespace {

struct PatternName {
  Pattern pattern;
  const char *name;
  bool hasKey;
};

constexpr PatternName kNames[] = {
    {Pattern::Normal, "normal", false},
    {Pattern::SpikeKey, "spike-key", true},
    {Pattern::Low, "low", false},
    {Pattern::Alternating, "alternating", false},
    {Pattern::Infinite, "infinite", true},
    {Pattern::NaN, "nan", true},
    {Pattern::LargeV, "large-v", false},
};

/// Column 0 of every query; with that of a key it shifts the key's scores.
constexpr double kAnchor = 16;
/// Column of K with an element that is not finite.
constexpr int64_t kBadColumn = 1;
/// Keys of one run or stair.
constexpr int64_t kRun = 128;
/// Least upper bound of |q.k|: f16 holds it.
constexpr double kLargestProduct = 3e4;

/// By how many log2 units the scores of key `j` are shifted.
double shiftOf(const Inputs &inputs, int64_t j) {
  switch (inputs.pattern) {
  case Pattern::SpikeKey:
    return j == inputs.key ? inputs.units : 0;
  case Pattern::Low:
    return -1000;
  case Pattern::Alternating:
    return j / kRun % 2 == 0 ? -1e4 : 1e4;
  case Pattern::LargeV:
    return -20.0 * double(j / kRun);
  case Pattern::Normal:
  case Pattern::Infinite:
  case Pattern::NaN:
    return 0;
  }
  return 0;
}

/// Column 0 of a key: shiftOf() in units of the anchor.
float anchorOfKey(const Problem &problem, int64_t j) {
  double log2e = 1.4426950408889634;
  double product = shiftOf(problem.inputs, j) / (double(problem.scale) * log2e);
  product = std::clamp(product, -kLargestProduct, kLargestProduct);
  return float(product / kAnchor);
}

bool readKey(const std::string &text, size_t at, Inputs &inputs) {
  const char *start = text.c_str() + at;
  char *end = nullptr;
  if (*start < '0' || *start > '9') {
    return false;
  }
  inputs.key = std::strtoll(start, &end, 10);
  for (double *number : {&inputs.units, &inputs.factorOfV}) {
    if (*end != ':' || inputs.pattern != Pattern::SpikeKey) {
      break;
    }
    start = end + 1;
    *number = std::strtod(start, &end);
    if (end == start || !std::isfinite(*number)) {
      return false;
    }
  }
  return *end == 0;
}

std::string spellNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), ":%.17g", number);
  return text;
}

} // namespace

std::string Inputs::spell() const {
  for (const PatternName &known : kNames) {
    if (known.pattern != pattern) {
      continue;
    }
    std::string text = known.name;
    if (known.hasKey) {
      text += ":" + std::to_string(key);
    }
    if (pattern == Pattern::SpikeKey) {
      text += spellNumber(units);
      text += factorOfV == 1 ? "" : spellNumber(factorOfV);
    }
    return text;
  }
  return "";
}

bool attn::run::parseInputs(const std::string &text, Inputs &inputs) {
  size_t colon = text.find(':');
  for (const PatternName &known : kNames) {
    if (text.substr(0, colon) == known.name) {
      inputs.pattern = known.pattern;
      bool hasKey = colon != std::string::npos;
      return hasKey == known.hasKey &&
             (!hasKey || readKey(text, colon + 1, inputs));
    }
  }
  return false;
}

Inputs attn::run::chooseInputs(double choice, int64_t key) {
  constexpr size_t patterns = std::size(kNames) - 1;
  size_t index = std::min(patterns - 1, size_t(choice * double(patterns)));
  Inputs inputs;
  inputs.pattern = kNames[index + 1].pattern;
  inputs.key = key;
  return inputs;
}

float attn::run::patternElement(const Problem &problem, char tensor,
                                int64_t position, int64_t column,
                                float normal) {
  const Inputs &inputs = problem.inputs;
  if (inputs.hasNonFinite()) {
    bool isBad =
        (tensor == 'k' && position == inputs.key && column == kBadColumn) ||
        (tensor == 'v' && position == inputs.keyOfV() && column == 0);
    float bad = inputs.pattern == Pattern::NaN
                    ? std::numeric_limits<float>::quiet_NaN()
                    : std::numeric_limits<float>::infinity();
    return isBad ? bad : normal;
  }
  if (tensor == 'v') {
    float large = problem.dtype == runtime::DataType::F16 ? 0x1p12f : 0x1p108f;
    return normal * (inputs.pattern == Pattern::LargeV
                         ? large
                         : float(inputs.factorOfV));
  }
  if (column != 0 || inputs.pattern == Pattern::Normal) {
    return normal;
  }
  return tensor == 'q' ? float(kAnchor) : anchorOfKey(problem, position);
}
