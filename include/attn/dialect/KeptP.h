// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How kernels keep P for dX in f16 (`kept_p`): times a power of two, so that P,
// which is at most 1, has all bits of f16 down to 2^-28.
#ifndef ATTN_DIALECT_KEPTP_H
#define ATTN_DIALECT_KEPTP_H

#include <cmath>
#include <cstdint>

namespace attn {

constexpr int64_t kKeptExponent = 14;

/// The largest error of a P that is kept: half of the smallest f16, unscaled.
inline double keptError() { return std::ldexp(1.0, -25 - kKeptExponent); }

} // namespace attn

#endif // ATTN_DIALECT_KEPTP_H
