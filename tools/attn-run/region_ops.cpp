// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "region_ops.h"

#include "numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::run;

bool run::parseValueType(const std::string &text, ValueType &type) {
  static const struct {
    const char *name;
    ValueType type;
  } types[] = {{"i1", {false, 1, false}},   {"i8", {false, 8, false}},
               {"i16", {false, 16, false}}, {"i32", {false, 32, false}},
               {"i64", {false, 64, false}}, {"index", {false, 32, false}},
               {"f16", {true, 16, false}},  {"bf16", {true, 16, true}},
               {"f32", {true, 32, false}},  {"f64", {true, 64, false}}};
  for (const auto &known : types) {
    if (text == known.name) {
      type = known.type;
      return true;
    }
  }
  return false;
}

std::string run::nameOf(ValueType type) {
  return (type.isBf16    ? "bf"
          : type.isFloat ? "f"
                         : "i") +
         std::to_string(type.bits);
}

int64_t run::wrapTo(unsigned bits, int64_t value) {
  unsigned unused = 64 - bits;
  return int64_t(uint64_t(value) << unused) >> unused;
}

static uint64_t unsignedOf(unsigned bits, int64_t value) {
  return bits == 64 ? uint64_t(value)
                    : uint64_t(value) & ((uint64_t(1) << bits) - 1);
}

/// Kernels flush denormal f32 numbers, as operands and as results.
static double flushed(ValueType type, double value) {
  constexpr double smallest = std::numeric_limits<float>::min();
  bool isDenormal = type.bits == 32 && std::fabs(value) < smallest;
  return isDenormal ? std::copysign(0.0, value) : value;
}

static double roundToType(ValueType type, double value) {
  if (type.bits == 64) {
    return value;
  }
  float single = float(value);
  return type.bits == 32 ? flushed(type, single)
                         : roundTo(type.isBf16 ? runtime::DataType::BF16
                                               : runtime::DataType::F16,
                                   single);
}

double run::floatOf(const OpUse &use, size_t operand, size_t lane, size_t at) {
  return flushed(use.operandTypes[operand],
                 use.operands[operand]->lanes[lane][at]);
}

void run::setFloats(const OpUse &use, size_t at,
                    std::array<double, kLanes> values) {
  double mirrored = 2 * values[Single] - values[Shifted];
  for (size_t lane : {Single, Rounded, Shifted}) {
    values[lane] = roundToType(use.type, values[lane]);
  }
  if (use.type.bits == 16) {
    // Rounding to so few bits is a decision of the program, and a kernel may
    // decide differently if its value is slightly off.
    values[Exact] = values[Single];
    bool isSame = values[Shifted] == values[Single] && std::isfinite(mirrored);
    values[Shifted] =
        isSame ? roundToType(use.type, mirrored) : values[Shifted];
  } else if (!std::isfinite(values[Single]) || values[Single] == 0) {
    // The range of the type belongs to the meaning, but its precision does not.
    values[Exact] = roundToType(use.type, values[Exact]);
  }
  for (size_t lane = 0; lane < kLanes; ++lane) {
    use.result->lanes[lane][at] = values[lane];
  }
}

namespace {

/// A function of floats (Attn_FloatWord in include/attn/dialect/ScoreOps.td).
struct FloatWord {
  const char *name;
  size_t operands;
  double (*value)(double a, double b, double c);
  /// How far a kernel's f32 may be from `value`; null: no more than it rounds.
  double (*error)(double operand, double value);
};

void foldFloats(const OpUse &use, const FloatWord &op) {
  for (size_t n = 0; n < use.count; ++n) {
    std::array<double, kLanes> values;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      double operands[3] = {};
      for (size_t i = 0; i < use.operands.size(); ++i) {
        operands[i] = floatOf(use, i, lane, n);
      }
      values[lane] = op.value(operands[0], operands[1], operands[2]);
      bool isOff = lane == Rounded || lane == Shifted;
      if (op.error && isOff && use.type.bits == 32 &&
          std::isfinite(values[lane])) {
        values[lane] += op.error(operands[0], values[lane]);
      }
    }
    setFloats(use, n, values);
  }
}

template <typename Function>
void compareIntegers(const OpUse &use, Function function) {
  for (size_t n = 0; n < use.count; ++n) {
    bool holds =
        function(use.operands[0]->integers[n], use.operands[1]->integers[n]);
    use.result->integers[n] = holds ? -1 : 0;
  }
}

template <typename Function>
void compareFloats(const OpUse &use, Function function) {
  for (size_t n = 0; n < use.count; ++n) {
    bool holds =
        function(floatOf(use, 0, Single, n), floatOf(use, 1, Single, n));
    use.result->integers[n] = holds ? -1 : 0;
  }
}

void select(const OpUse &use) {
  for (size_t n = 0; n < use.count; ++n) {
    const Column &taken = *use.operands[use.operands[0]->integers[n] ? 1 : 2];
    if (!use.type.isFloat) {
      use.result->integers[n] = taken.integers[n];
      continue;
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      use.result->lanes[lane][n] = taken.lanes[lane][n];
    }
  }
}

/// Applies `function(value, bits of the operand)`, wrapped to the result.
template <typename Function>
void convertIntegers(const OpUse &use, Function function) {
  for (size_t n = 0; n < use.count; ++n) {
    use.result->integers[n] =
        wrapTo(use.type.bits, function(use.operands[0]->integers[n],
                                       use.operandTypes[0].bits));
  }
}

void extendSigned(const OpUse &use) {
  convertIntegers(use, [](int64_t value, unsigned) { return value; });
}

/// An index that does not fit 32 bits stays out of bounds.
void castToIndex(const OpUse &use) {
  convertIntegers(use, [](int64_t value, unsigned) {
    return std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
  });
}

void extendUnsigned(const OpUse &use) {
  convertIntegers(use, [](int64_t value, unsigned bits) {
    return int64_t(unsignedOf(bits, value));
  });
}

/// Rounds once, as kernels do: an i64 may have more bits than a double.
template <typename Integer>
void integerToFloat(const OpUse &use, size_t at, Integer value) {
  std::array<double, kLanes> values;
  values.fill(use.type.bits == 32 ? double(float(value)) : double(value));
  values[Exact] = double(value);
  setFloats(use, at, values);
}

void signedToFloat(const OpUse &use) {
  for (size_t n = 0; n < use.count; ++n) {
    integerToFloat(use, n, use.operands[0]->integers[n]);
  }
}

void unsignedToFloat(const OpUse &use) {
  for (size_t n = 0; n < use.count; ++n) {
    integerToFloat(
        use, n,
        unsignedOf(use.operandTypes[0].bits, use.operands[0]->integers[n]));
  }
}

/// Converts toward zero; a value out of range becomes the nearest integer, and
/// a NaN 0.
int64_t toInteger(unsigned bits, double value) {
  double bound = std::ldexp(1.0, int(bits) - 1);
  int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return std::isnan(value) ? 0
         : value >= bound  ? most
         : value < -bound  ? -most - 1
                           : int64_t(value);
}

uint64_t toUnsigned(unsigned bits, double value) {
  return !(value > 0)                          ? 0
         : value >= std::ldexp(1.0, int(bits)) ? UINT64_MAX
                                               : uint64_t(value);
}

void floatToSigned(const OpUse &use) {
  for (size_t n = 0; n < use.count; ++n) {
    double value = use.operands[0]->lanes[Single][n];
    use.result->integers[n] = toInteger(use.type.bits, value);
  }
}

void floatToUnsigned(const OpUse &use) {
  for (size_t n = 0; n < use.count; ++n) {
    double value = use.operands[0]->lanes[Single][n];
    use.result->integers[n] =
        wrapTo(use.type.bits, int64_t(toUnsigned(use.type.bits, value)));
  }
}

void convertFloats(const OpUse &use) {
  foldFloats(use, {"", 1, [](double a, double, double) { return a; }, nullptr});
}

using I = int64_t;
using U = uint64_t;

/// Two integers of so many bits to one of their type, which wraps around.
template <typename Function>
RegionOp integers(const char *name, Function function) {
  return {name, Signature::Integers, 2, [=](const OpUse &use) {
            unsigned bits = use.type.bits;
            for (size_t n = 0; n < use.count; ++n) {
              I value = I(function(use.operands[0]->integers[n],
                                   use.operands[1]->integers[n], bits));
              use.result->integers[n] = wrapTo(bits, value);
            }
          }};
}

template <typename Function>
RegionOp unsignedIntegers(const char *name, Function function) {
  return integers(name, [=](int64_t a, int64_t b, unsigned bits) {
    return function(unsignedOf(bits, a), unsignedOf(bits, b), bits);
  });
}

template <typename Function>
RegionOp compare(const char *name, Function function) {
  return {name, Signature::IntCompare, 2,
          [=](const OpUse &use) { compareIntegers(use, function); }};
}

template <typename Function>
RegionOp compareUnsigned(const char *name, Function function) {
  return {name, Signature::IntCompare, 2, [=](const OpUse &use) {
            unsigned bits = use.operandTypes[0].bits;
            compareIntegers(use, [&](int64_t a, int64_t b) {
              return function(unsignedOf(bits, a), unsignedOf(bits, b));
            });
          }};
}

/// False if an operand is a NaN.
template <typename Function>
RegionOp ordered(const char *name, Function function) {
  return {name, Signature::FloatCompare, 2, [=](const OpUse &use) {
            compareFloats(use, [&](double a, double b) {
              return !std::isunordered(a, b) && function(a, b);
            });
          }};
}

/// True if an operand is a NaN.
template <typename Function>
RegionOp unordered(const char *name, Function function) {
  return {name, Signature::FloatCompare, 2, [=](const OpUse &use) {
            compareFloats(use, [&](double a, double b) {
              return std::isunordered(a, b) || function(a, b);
            });
          }};
}

/// A word that is no function of floats (Attn_OtherWord).
struct OtherWord {
  const char *name;
  RegionOp (*make)(const char *name);
};

#define GET_FloatWordTable_IMPL
#define GET_OtherWordTable_IMPL
#include "score_ops.inc"

/// Three are missing, which Region knows itself: constant, extract and yield.
std::vector<RegionOp> makeOps() {
  std::vector<RegionOp> ops;
  for (const FloatWord &op : FloatWordTable) {
    ops.push_back({op.name, Signature::Floats, op.operands,
                   [&op](const OpUse &use) { foldFloats(use, op); }});
  }
  for (const OtherWord &op : OtherWordTable) {
    ops.push_back(op.make(op.name));
  }
  return ops;
}

} // namespace

const RegionOp *run::findRegionOp(const std::string &name) {
  static const std::vector<RegionOp> ops = makeOps();
  for (const RegionOp &op : ops) {
    if (name == op.name) {
      return &op;
    }
  }
  const std::string flag = ".afn";
  bool hasFlag =
      name.size() > flag.size() &&
      name.compare(name.size() - flag.size(), flag.size(), flag) == 0;
  return hasFlag ? findRegionOp(name.substr(0, name.size() - flag.size()))
                 : nullptr;
}
