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

/// The error of a function's f32 result for `operand`.
using Error = double (*)(double operand, double result);

/// Applies `function` to all operands, as floats.
template <typename Function>
void foldFloats(const OpUse &use, Function function, Error error = nullptr) {
  for (size_t n = 0; n < use.count; ++n) {
    std::array<double, kLanes> values;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      auto operand = [&](size_t i) { return floatOf(use, i, lane, n); };
      if constexpr (std::is_invocable_v<Function, double>) {
        values[lane] = function(operand(0));
      } else if constexpr (std::is_invocable_v<Function, double, double>) {
        values[lane] = function(operand(0), operand(1));
      } else {
        values[lane] = function(operand(0), operand(1), operand(2));
      }
      bool isOff = lane == Rounded || lane == Shifted;
      if (error && isOff && use.type.bits == 32 &&
          std::isfinite(values[lane])) {
        values[lane] += error(operand(0), values[lane]);
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
  foldFloats(use, [](double value) { return value; });
}

double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
}

double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
}

// The errors of functions as the compiler lowers them
// (codegen/emit/MathToNVVM): those of the instructions, and the rounding of
// their operands.
constexpr double kInstruction = 0x1p-22;

double relative(double, double result) { return kInstruction * result; }
double ofExp(double operand, double result) {
  return (kInstruction + 0x1p-23 * std::fabs(operand)) * result;
}
double ofLog(double, double result) {
  return kInstruction * std::max(1.0, std::fabs(result));
}
double ofSine(double, double) { return kInstruction; }
double ofTanh(double, double result) { return 0x1p-18 * result; }
double ofOneTanh(double, double result) { return 0x1p-11 * result; }

/// Applies a function to two integers of one type, with wrap-around. `function`
/// may take the number of bits of the type.
template <typename Function>
RegionOp integers(const char *name, Function function) {
  return {name, Signature::Integers, 2, [=](const OpUse &use) {
            for (size_t n = 0; n < use.count; ++n) {
              int64_t a = use.operands[0]->integers[n];
              int64_t b = use.operands[1]->integers[n];
              int64_t value;
              if constexpr (std::is_invocable_v<Function, int64_t, int64_t>) {
                value = int64_t(function(a, b));
              } else {
                value = int64_t(function(a, b, use.type.bits));
              }
              use.result->integers[n] = wrapTo(use.type.bits, value);
            }
          }};
}

template <typename Function>
RegionOp unsignedIntegers(const char *name, Function function) {
  return integers(name, [=](int64_t a, int64_t b, unsigned bits) {
    return function(unsignedOf(bits, a), unsignedOf(bits, b));
  });
}

/// Applies a function to one, two or three floats of one type.
template <typename... Operands>
RegionOp floats(const char *name, double (*function)(Operands...),
                Error error = nullptr) {
  return {name, Signature::Floats, sizeof...(Operands),
          [=](const OpUse &use) { foldFloats(use, function, error); }};
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

/// The ops that regions may contain (dialect/lib/ScoreOps.cpp), with their
/// meaning. Region itself implements constant, extract and yield.
const std::vector<RegionOp> &allOps() {
  using I = int64_t;
  using U = uint64_t;
  using D = double;
  static const std::vector<RegionOp> ops = {
      integers("addi", [](U a, U b) { return a + b; }),
      integers("subi", [](U a, U b) { return a - b; }),
      integers("muli", [](U a, U b) { return a * b; }),
      // Division by 0 returns the dividend, and the remainder 0.
      integers("divsi",
               [](I a, I b) {
                 return b == 0 ? U(a) : b == -1 ? U(0) - U(a) : U(a / b);
               }),
      integers("remsi", [](I a, I b) { return b == 0 || b == -1 ? 0 : a % b; }),
      unsignedIntegers("divui", [](U a, U b) { return b == 0 ? a : a / b; }),
      unsignedIntegers("remui", [](U a, U b) { return b == 0 ? 0 : a % b; }),
      integers("andi", [](I a, I b) { return a & b; }),
      integers("ori", [](I a, I b) { return a | b; }),
      integers("xori", [](I a, I b) { return a ^ b; }),
      integers("maxsi", [](I a, I b) { return std::max(a, b); }),
      integers("minsi", [](I a, I b) { return std::min(a, b); }),
      unsignedIntegers("maxui", [](U a, U b) { return std::max(a, b); }),
      unsignedIntegers("minui", [](U a, U b) { return std::min(a, b); }),
      // A shift by the width or more leaves only the sign.
      integers("shli",
               [](U a, I b, unsigned bits) {
                 U by = unsignedOf(bits, b);
                 return by < bits ? a << by : 0;
               }),
      integers("shrsi",
               [](I a, I b, unsigned bits) {
                 return a >> std::min<U>(unsignedOf(bits, b), bits - 1);
               }),
      integers("shrui",
               [](I a, I b, unsigned bits) {
                 U by = unsignedOf(bits, b);
                 return by < bits ? unsignedOf(bits, a) >> by : 0;
               }),
      floats(
          "addf", +[](D a, D b) { return a + b; }),
      floats(
          "subf", +[](D a, D b) { return a - b; }),
      floats(
          "mulf", +[](D a, D b) { return a * b; }),
      floats(
          "divf", +[](D a, D b) { return a / b; }, relative),
      floats(
          "negf", +[](D a) { return -a; }),
      floats(
          "absf", +[](D a) { return std::fabs(a); }),
      floats("maximumf", maximum),
      floats("minimumf", minimum),
      floats(
          "maxnumf", +[](D a, D b) { return std::fmax(a, b); }),
      floats(
          "minnumf", +[](D a, D b) { return std::fmin(a, b); }),
      floats(
          "fma", +[](D a, D b, D c) { return std::fma(a, b, c); }),
      floats(
          "exp", +[](D a) { return std::exp(a); }, ofExp),
      floats(
          "exp2", +[](D a) { return std::exp2(a); }, relative),
      floats(
          "log", +[](D a) { return std::log(a); }, ofLog),
      floats(
          "log2", +[](D a) { return std::log2(a); }, ofLog),
      floats(
          "sqrt", +[](D a) { return std::sqrt(a); }, relative),
      floats(
          "rsqrt", +[](D a) { return 1 / std::sqrt(a); }, relative),
      floats(
          "sin", +[](D a) { return std::sin(a); }, ofSine),
      floats(
          "cos", +[](D a) { return std::cos(a); }, ofSine),
      floats(
          "erf", +[](D a) { return std::erf(a); }, relative),
      floats(
          "tanh", +[](D a) { return std::tanh(a); }, ofTanh),
      floats(
          "tanh.afn", +[](D a) { return std::tanh(a); }, ofOneTanh),
      compare("cmpi.eq", [](I a, I b) { return a == b; }),
      compare("cmpi.ne", [](I a, I b) { return a != b; }),
      compare("cmpi.slt", [](I a, I b) { return a < b; }),
      compare("cmpi.sle", [](I a, I b) { return a <= b; }),
      compare("cmpi.sgt", [](I a, I b) { return a > b; }),
      compare("cmpi.sge", [](I a, I b) { return a >= b; }),
      compareUnsigned("cmpi.ult", [](U a, U b) { return a < b; }),
      compareUnsigned("cmpi.ule", [](U a, U b) { return a <= b; }),
      compareUnsigned("cmpi.ugt", [](U a, U b) { return a > b; }),
      compareUnsigned("cmpi.uge", [](U a, U b) { return a >= b; }),
      ordered("cmpf.oeq", [](D a, D b) { return a == b; }),
      ordered("cmpf.ogt", [](D a, D b) { return a > b; }),
      ordered("cmpf.oge", [](D a, D b) { return a >= b; }),
      ordered("cmpf.olt", [](D a, D b) { return a < b; }),
      ordered("cmpf.ole", [](D a, D b) { return a <= b; }),
      ordered("cmpf.one", [](D a, D b) { return a != b; }),
      ordered("cmpf.ord", [](D, D) { return true; }),
      ordered("cmpf.false", [](D, D) { return false; }),
      unordered("cmpf.ueq", [](D a, D b) { return a == b; }),
      unordered("cmpf.ugt", [](D a, D b) { return a > b; }),
      unordered("cmpf.uge", [](D a, D b) { return a >= b; }),
      unordered("cmpf.ult", [](D a, D b) { return a < b; }),
      unordered("cmpf.ule", [](D a, D b) { return a <= b; }),
      unordered("cmpf.une", [](D a, D b) { return a != b; }),
      unordered("cmpf.uno", [](D, D) { return false; }),
      unordered("cmpf.true", [](D, D) { return true; }),
      {"select", Signature::Select, 3, select},
      {"index_cast", Signature::IntToInt, 1, castToIndex},
      {"extsi", Signature::IntToInt, 1, extendSigned},
      {"extui", Signature::IntToInt, 1, extendUnsigned},
      {"trunci", Signature::IntToInt, 1, extendSigned},
      {"sitofp", Signature::IntToFloat, 1, signedToFloat},
      {"uitofp", Signature::IntToFloat, 1, unsignedToFloat},
      {"fptosi", Signature::FloatToInt, 1, floatToSigned},
      {"fptoui", Signature::FloatToInt, 1, floatToUnsigned},
      {"extf", Signature::FloatToFloat, 1, convertFloats},
      {"truncf", Signature::FloatToFloat, 1, convertFloats},
  };
  return ops;
}

} // namespace

const RegionOp *run::findRegionOp(const std::string &name) {
  for (const RegionOp &op : allOps()) {
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
