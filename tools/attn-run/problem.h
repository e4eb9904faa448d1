// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention problem: sizes, mask, regions and how its tensors lie in
// memory.

#ifndef ATTN_TOOLS_ATTN_RUN_PROBLEM_H
#define ATTN_TOOLS_ATTN_RUN_PROBLEM_H

#include "captures.h"
#include "options.h"

#include <memory>

namespace attn::run {

struct Problem {
  int64_t batch = 0;
  int64_t seqQ = 0;
  int64_t seqK = 0;
  int64_t headsQ = 0;
  int64_t headsK = 0;
  int64_t dim = 0;  // of Q and K
  int64_t dimV = 0; // of V and O
  runtime::DataType dtype = runtime::DataType::BF16;
  /// The built-in mask's bounds.
  std::vector<std::pair<std::string, int64_t>> bounds;
  /// For each query the first key that this mask leaves to it, and the first
  /// behind those. Empty: all keys.
  std::vector<std::pair<int64_t, int64_t>> keys;
  /// Positions come after heads in Q, K, V and O.
  bool headsFirst = false;
  /// What the regions compute; null where there is none.
  std::shared_ptr<const Region> score;
  std::shared_ptr<const Region> allow;
  GivenCaptures captures;
  /// The softmax scale as the kernel gets it.
  float scale = 0;
  uint64_t seed = 0;
  bool padStrides = false;
  bool broadcastKv = false;
  Inputs inputs;

  int64_t rows() const { return batch * headsQ * seqQ; }
  /// The keys that the mask leaves to query `i`: from firstKey to endKey, which
  /// is the first that it does not see.
  int64_t firstKey(int64_t i) const {
    return keys.empty() ? 0 : keys[size_t(i)].first;
  }
  int64_t endKey(int64_t i) const {
    return keys.empty() ? seqK : keys[size_t(i)].second;
  }
  /// The number of a row among those of a tensor with that many positions and
  /// heads.
  int64_t rowIndex(int64_t batch, int64_t i, int64_t head, int64_t length,
                   int64_t heads) const {
    return headsFirst ? (batch * heads + head) * length + i
                      : (batch * length + i) * heads + head;
  }
  /// For people: "q=1x2x3x64 kv=... scale=...".
  std::string describe() const;
};

/// The problem that the options give for the kernels of `plan`.
Problem makeProblem(const runtime::LaunchPlan &plan, const Options &options);

/// The problem of `seed`: lengths 0 to about 700, often odd, prime or tiny, or
/// where the plan goes from one variant to another; grouped heads, padded
/// strides, broadcast K and V, scales, and now and then inputs that are not
/// normal. Captures are as the options give them.
Problem makeRandomProblem(const runtime::LaunchPlan &plan,
                          const GivenCaptures &captures, uint64_t seed);

/// Empty, or why these kernels have no reference here.
std::string whyNotCheckable(const runtime::LaunchPlan &plan);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PROBLEM_H
