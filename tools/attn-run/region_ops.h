// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of the ops of score and mask regions, for a run of keys at a
// time.

#ifndef ATTN_TOOLS_ATTN_RUN_REGION_OPS_H
#define ATTN_TOOLS_ATTN_RUN_REGION_OPS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attn::run {

/// A type of a region's values: "f32", "i1", "index" and their like.
struct ValueType {
  bool isFloat = false;
  unsigned bits = 32;
  bool isBf16 = false;

  bool operator==(const ValueType &other) const {
    return isFloat == other.isFloat && bits == other.bits &&
           isBf16 == other.isBf16;
  }
};

/// Returns false if there is no such type. An index has 32 bits, as in kernels.
bool parseValueType(const std::string &text, ValueType &type);
std::string nameOf(ValueType type);

/// Floats are computed several times in parallel.
enum Lane : size_t {
  /// In float64 from the exact score.
  Exact,
  /// In the types of the values, from the exact score, as a kernel could. All
  /// lanes use the decisions of this lane: comparisons and conversions to
  /// integers.
  Single,
  /// In the types of the values, from a rounded score.
  Rounded,
  /// In the types of the values, from a score with the largest error of a
  /// kernel, and functions with the largest error of the machine: an estimate
  /// of how far a kernel may be from Exact.
  Shifted
};
constexpr size_t kLanes = 4;

/// The value for each of several keys. An integer of n bits is sign-extended.
struct Column {
  std::vector<int64_t> integers;
  std::array<std::vector<double>, kLanes> lanes;

  void resize(ValueType type, size_t count) {
    integers.resize(type.isFloat ? 0 : count);
    for (std::vector<double> &lane : lanes) {
      lane.resize(type.isFloat ? count : 0);
    }
  }
};

/// One use of an op: its types and values.
struct OpUse {
  ValueType type;
  std::vector<ValueType> operandTypes;
  std::vector<const Column *> operands;
  size_t count = 0;
  Column *result = nullptr;
};

/// The relation between the types of an op.
enum class Signature {
  Integers,     // operands and result of one integer type
  Floats,       // operands and result of one float type
  IntCompare,   // integers of one type to i1
  FloatCompare, // floats of one type to i1
  Select,       // i1 and two of the result's type
  IntToInt,
  IntToFloat,
  FloatToInt,
  FloatToFloat
};

struct RegionOp {
  const char *name;
  Signature signature;
  size_t operands;
  std::function<void(const OpUse &)> fold;
};

/// Returns the op called `name` in a plan's program, or null. The flag ".afn"
/// only affects ops that have an approximation.
const RegionOp *findRegionOp(const std::string &name);

/// Returns `value` as an integer of `bits` bits, with wrap-around.
int64_t wrapTo(unsigned bits, int64_t value);

/// Returns an element of a float operand as an op of a kernel reads it.
double floatOf(const OpUse &use, size_t operand, size_t lane, size_t at);

/// Sets an element of the result from its lanes, rounded to the type.
void setFloats(const OpUse &use, size_t at, std::array<double, kLanes> values);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REGION_OPS_H
