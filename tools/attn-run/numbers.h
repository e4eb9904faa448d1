// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 16-bit floats and reproducible random numbers.

#ifndef ATTN_TOOLS_ATTN_RUN_NUMBERS_H
#define ATTN_TOOLS_ATTN_RUN_NUMBERS_H

#include "data_type.h"

#include <cstdint>

namespace attn::run {

/// Rounds to the nearest, ties to even; a NaN stays a NaN.
uint16_t floatToBf16(float value);
float bf16ToFloat(uint16_t bits);
uint16_t floatToF16(float value);
float f16ToFloat(uint16_t bits);

/// Rounds `value` to `type` if that is bf16 or f16, otherwise returns it
/// unchanged.
float roundTo(runtime::DataType type, float value);

/// Counter-based random numbers: the value at an index depends neither on the
/// other draws nor on their order.
class Random {
public:
  Random(uint64_t seed, uint64_t stream);
  uint64_t bits(uint64_t index) const;
  /// In (0, 1].
  double uniform(uint64_t index) const;
  /// In [least, most].
  int64_t integer(uint64_t index, int64_t least, int64_t most) const;
  /// Standard normal, through Box-Muller.
  float normal(uint64_t index) const;

private:
  uint64_t key;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_NUMBERS_H
