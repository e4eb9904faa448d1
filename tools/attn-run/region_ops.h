// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ops of score and mask regions mean, for a run of keys at a time.

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

/// False if there is no such type. An index has 32 bits, as in kernels.
bool parseValueType(const std::string &text, ValueType &type);
std::string nameOf(ValueType type);

/// Floats are computed several times side by side.
enum Lane : size_t {
  /// In float64 from the exact score.
  Exact,
  /// In the values' own types from the exact score: what a kernel can have.
  /// Decisions, which are comparisons and conversions to integers, are taken
  /// by these, for all lanes.
  Single,
  /// In the values' own types from a score that was rounded.
  Rounded,
  /// In the values' own types from a score that is off by as much as a kernel's
  /// may be, with functions off by as much as the machine's: how far from Exact
  /// a kernel may be.
  Shifted
};
constexpr size_t kLanes = 4;

/// A value for each of several keys. An integer of n bits is sign-extended.
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

/// How an op's types hang together.
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

/// The op called `name`, as a plan's program has it; null if there is none. A
/// flag ".afn" makes a difference to those ops alone that have an
/// approximation.
const RegionOp *findRegionOp(const std::string &name);

/// `value` as an integer of `bits` bits: wraps round.
int64_t wrapTo(unsigned bits, int64_t value);

/// An element of a float operand, as an op of a kernel reads it.
double floatOf(const OpUse &use, size_t operand, size_t lane, size_t at);

/// Sets a result's element from its lanes as they were computed: rounds them to
/// the type.
void setFloats(const OpUse &use, size_t at, std::array<double, kLanes> values);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REGION_OPS_H
