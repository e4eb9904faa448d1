// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_KNOBVALUE_H
#define ATTN_DIALECT_KNOBVALUE_H

#include "llvm/ADT/Hashing.h"
#include <type_traits>

namespace attn {

/// The value of a knob: a number, a flag, the number of a word, or a share.
struct KnobValue {
  int64_t number = 0;      // the numerator of a share
  int64_t denominator = 1; // 1 unless it is a share

  constexpr KnobValue() = default;
  constexpr KnobValue(int64_t number, int64_t denominator = 1)
      : number(number), denominator(denominator) {}
  template <typename Word, typename = std::enable_if_t<std::is_enum_v<Word>>>
  constexpr KnobValue(Word word) : number(int64_t(word)) {}

  /// Converts it to the type of a parameter of an attribute.
  template <typename T> T as() const {
    if constexpr (std::is_same_v<T, KnobValue>) {
      return *this;
    } else {
      return T(number);
    }
  }

  friend constexpr bool operator==(KnobValue a, KnobValue b) {
    return a.number == b.number && a.denominator == b.denominator;
  }
  friend constexpr bool operator!=(KnobValue a, KnobValue b) {
    return !(a == b);
  }
  friend llvm::hash_code hash_value(KnobValue value) {
    return llvm::hash_combine(value.number, value.denominator);
  }
};

} // namespace attn

#endif // ATTN_DIALECT_KNOBVALUE_H
