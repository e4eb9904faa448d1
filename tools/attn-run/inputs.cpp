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

/// The fields after the name of a pattern.
enum class Follows { Nothing, Key, Units, PerhapsUnits };

struct PatternName {
  Pattern pattern;
  const char *name;
  Follows follows = Follows::Nothing;
};

constexpr PatternName kNames[] = {
    {Pattern::Normal, "normal"},
    {Pattern::SpikeKey, "spike-key", Follows::Key},
    {Pattern::Low, "low", Follows::PerhapsUnits},
    {Pattern::Alternating, "alternating"},
    {Pattern::Infinite, "infinite", Follows::Key},
    {Pattern::NaN, "nan", Follows::Key},
    {Pattern::LargeV, "large-v"},
    {Pattern::Large, "large", Follows::Units},
    {Pattern::LargeRuns, "large-runs", Follows::Units},
};

/// The value of column 0 of every query; multiplied by that of a key it shifts
/// the key's scores.
constexpr double kAnchor = 16, kLargeAnchor = 0x1p15;
/// The column of K with a non-finite element.
constexpr int64_t kBadColumn = 1;
/// The shift of all scores with Pattern::Low, if none is given.
constexpr double kLow = -1000;
/// The number of keys in a run or stair.
constexpr int64_t kRun = 128;
/// Upper bounds of |q.k| for which column 0 of a key fits its type.
constexpr double kLargestProduct = 3e4;
double largestProduct(const Problem &problem) {
  if (!problem.inputs.isLarge()) {
    return kLargestProduct;
  }
  bool isHalf = problem.dtype == runtime::DataType::F16;
  return kLargeAnchor * (isHalf ? 0x1p15 : 0x1p110);
}

/// Returns the shift of the scores of key `j`, in log2 units.
double shiftOf(const Inputs &inputs, int64_t j) {
  const int64_t run = j / kRun;
  switch (inputs.pattern) {
  case Pattern::SpikeKey:
    return j == inputs.key ? inputs.units : 0;
  case Pattern::Low:
    return inputs.units;
  case Pattern::Alternating:
    return run % 2 == 0 ? -1e4 : 1e4;
  case Pattern::LargeV:
    return -20.0 * double(run);
  case Pattern::LargeRuns:
    if (run % 2 != 0) {
      return 0;
    }
    [[fallthrough]];
  case Pattern::Large: // equal for some keys, slightly less for others
    return inputs.units * (1 - double(j * 7 % 16) / 64);
  case Pattern::Normal:
  case Pattern::Infinite:
  case Pattern::NaN:
    return 0;
  }
  return 0;
}

double anchorOfQuery(const Inputs &inputs) {
  return inputs.isLarge() ? kLargeAnchor : kAnchor;
}

/// Returns column 0 of a key: shiftOf() in units of the anchor.
float anchorOfKey(const Problem &problem, int64_t j) {
  double log2e = 1.4426950408889634;
  double shift = shiftOf(problem.inputs, j);
  double product = shift / (double(problem.scale) * log2e);
  if (std::isinf(shift)) {
    return float(product);
  }
  double largest = largestProduct(problem);
  product = std::clamp(product, -largest, largest);
  return float(product / anchorOfQuery(problem.inputs));
}

bool readUnits(const std::string &text, size_t at, Inputs &inputs) {
  const char *start = text.c_str() + at;
  char *end = nullptr;
  inputs.units = std::strtod(start, &end);
  return end != start && *end == 0 && std::isfinite(inputs.units);
}

/// Whether the fields of a spike have values that its elements can have: nobody
/// sees a key at -infinity.
bool hasSpikeValues(const Inputs &inputs) {
  bool isBelow = std::isfinite(inputs.units) || inputs.units < 0;
  return isBelow && std::isfinite(inputs.factorOfV);
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
    if (end == start) {
      return false;
    }
  }
  return *end == 0 && hasSpikeValues(inputs);
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
    if (known.follows == Follows::Key) {
      text += ":" + std::to_string(key);
    }
    bool isLow = pattern == Pattern::Low && units != kLow;
    if (known.follows == Follows::Units || pattern == Pattern::SpikeKey ||
        isLow) {
      text += spellNumber(units);
    }
    if (pattern == Pattern::SpikeKey) {
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
      bool isOptional = known.follows == Follows::PerhapsUnits;
      inputs.units = isOptional ? kLow : inputs.units;
      if (known.follows == Follows::Nothing || colon == std::string::npos) {
        return colon == std::string::npos &&
               (known.follows == Follows::Nothing || isOptional);
      }
      return known.follows == Follows::Key ? readKey(text, colon + 1, inputs)
                                           : readUnits(text, colon + 1, inputs);
    }
  }
  return false;
}

Inputs attn::run::chooseInputs(double choice, int64_t key, double size) {
  constexpr size_t patterns = std::size(kNames) - 1;
  size_t index = std::min(patterns - 1, size_t(choice * double(patterns)));
  Inputs inputs;
  inputs.pattern = kNames[index + 1].pattern;
  inputs.key = key;
  if (inputs.pattern == Pattern::Low) {
    inputs.units = kLow;
  }
  if (inputs.isLarge()) { // up to 2^100
    inputs.units = std::copysign(std::exp2(20 + 80 * std::fabs(size)), size);
  }
  return inputs;
}

float attn::run::patternElement(const Problem &problem, runtime::Role tensor,
                                int64_t position, int64_t column,
                                float normal) {
  const Inputs &inputs = problem.inputs;
  if (inputs.hasNonFinite()) {
    bool isBad = (tensor == runtime::Role::Key && position == inputs.key &&
                  column == kBadColumn) ||
                 (tensor == runtime::Role::Value &&
                  position == inputs.keyOfV() && column == 0);
    float bad = inputs.pattern == Pattern::NaN
                    ? std::numeric_limits<float>::quiet_NaN()
                    : std::numeric_limits<float>::infinity();
    return isBad ? bad : normal;
  }
  if (tensor == runtime::Role::Value) {
    float large = problem.dtype == runtime::DataType::F16 ? 0x1p12f : 0x1p108f;
    return normal * (inputs.pattern == Pattern::LargeV
                         ? large
                         : float(inputs.factorOfV));
  }
  if (inputs.pattern == Pattern::Normal) {
    return normal;
  }
  if (column != 0) { // large scores are exact
    return inputs.isLarge() && tensor == runtime::Role::Key ? 0 : normal;
  }
  if (tensor == runtime::Role::Key) {
    return anchorOfKey(problem, position);
  }
  bool flips = inputs.isLarge() && position % 2 != 0;
  return float(flips ? -anchorOfQuery(inputs) : anchorOfQuery(inputs));
}
