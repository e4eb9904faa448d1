// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_KERNELS_RANDOM_MASK_H
#define ATTN_TEST_UNIT_KERNELS_RANDOM_MASK_H

#include "region_interpreter.h"
#include "llvm/ADT/Sequence.h"
#include <random>

namespace attn::test {

/// The text of an attention with a mask function whose ops are `ops`, and which
/// yields `result`. They use the positions %b, %h, %i and %j and the captures
/// %n32, %n64, %t32, %t64 and %t1.
std::string writeMask(const std::string &ops, const std::string &result);
/// The same with a row_keys region, from key 0 to `end`, without %j.
std::string writeRowKeys(const std::string &ops, const std::string &end);

/// The text of an attention with a random mask function, and what it captures:
/// an i32, an i64, and tensors of i32, i64 and i1. Most parts are comparisons
/// as people write them; some are any arithmetic.
struct RandomMask {
  explicit RandomMask(unsigned seed);

  std::string ir;
  std::vector<Capture> captures;
};

/// The seeds of the random masks that a test tries; nightly runs set their
/// number. Several processes share them by the first seed of each.
llvm::iota_range<unsigned> seedsToTry(unsigned count);

} // namespace attn::test

#endif // ATTN_TEST_UNIT_KERNELS_RANDOM_MASK_H
