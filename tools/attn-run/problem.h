// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention problem: sizes, mask, regions, and the memory layout of its
// tensors.

#ifndef ATTN_TOOLS_ATTN_RUN_PROBLEM_H
#define ATTN_TOOLS_ATTN_RUN_PROBLEM_H

#include "captures.h"
#include "dropout.h"
#include "options.h"

#include <memory>

namespace attn::run {

struct Problem {
  int64_t batch = 0;
  int64_t seqQ = 0;
  int64_t seqK = 0;
  int64_t headsQ = 0;
  int64_t headsK = 0;
  /// The rows of the statistics of a backward pass: some after the queries.
  int64_t statisticRows = 0;
  /// Whether these statistics are computed from Q, K, V and dO. Otherwise they
  /// are random, which is enough to measure a kernel.
  bool hasTrueStatistics = true;
  int64_t dim = 0;  // of Q and K
  int64_t dimV = 0; // of V and O
  runtime::DataType dtype = runtime::DataType::BF16;
  /// The built-in mask's bounds.
  std::vector<std::pair<std::string, int64_t>> bounds;
  /// For each query the first key that this mask leaves to it, and the end of
  /// these keys. Empty: all keys.
  std::vector<std::pair<int64_t, int64_t>> keys;
  /// Positions come after heads in Q, K, V and O.
  bool headsFirst = false;
  /// The regions, or null.
  std::shared_ptr<const Region> score;
  std::shared_ptr<const Region> allow;
  GivenCaptures captures;
  Dropout dropout;
  /// The sink of each query head; empty without sinks.
  std::vector<float> sinks;
  /// The softmax scale that the kernel receives.
  float scale = 0;
  uint64_t seed = 0;
  bool padStrides = false;
  bool broadcastKv = false;
  Inputs inputs;

  int64_t rows() const { return batch * headsQ * seqQ; }
  /// The keys that the mask leaves to query `i`: from firstKey to endKey, which
  /// is not included.
  int64_t firstKey(int64_t i) const {
    return keys.empty() ? 0 : keys[size_t(i)].first;
  }
  int64_t endKey(int64_t i) const {
    return keys.empty() ? seqK : keys[size_t(i)].second;
  }
  /// The number of a row in a tensor with these numbers of positions and heads.
  int64_t rowIndex(int64_t batch, int64_t i, int64_t head, int64_t length,
                   int64_t heads) const {
    return headsFirst ? (batch * heads + head) * length + i
                      : (batch * length + i) * heads + head;
  }
  /// As text: "q=1x2x3x64 kv=... scale=...".
  std::string describe() const;
};

/// Makes the problem of the options, for the kernels of `plan`.
Problem makeProblem(const runtime::LaunchPlan &plan, const Options &options);

/// Makes the problem of `seed`: lengths 0 to about 700, often odd, prime or
/// tiny, or at the borders between the plan's variants; grouped heads, padded
/// strides, broadcast K and V, scales, and sometimes inputs that are not
/// normal. The options give the captures.
Problem makeRandomProblem(const runtime::LaunchPlan &plan,
                          const GivenCaptures &captures, uint64_t seed);

/// Returns the roles of the gradients of Q, K and V that kernels of a kind
/// make.
std::vector<runtime::Role> gradientsOf(runtime::Kind kind);

/// Whether one call computes a whole backward pass, from O and the LSE.
bool isWholeBackward(const runtime::LaunchPlan &plan);

/// Returns the roles of the tensors that the kernels of a problem must have for
/// a launch here; none if there is no such problem.
std::vector<runtime::Role> neededRoles(const runtime::LaunchPlan &plan);

/// Returns the reason why these kernels have no reference here, or "".
std::string whyNotCheckable(const runtime::LaunchPlan &plan);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PROBLEM_H
