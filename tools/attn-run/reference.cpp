// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reference.h"

#include "numbers.h"
#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>

using namespace attn;
using namespace attn::run;
using Bound = runtime::PlanNumerics;

#if defined(__x86_64__)
#define ATTN_VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define ATTN_VECTORIZED
#endif

bool attn::run::isAdmissible(const ReferenceInputs &in, const Row &row,
                             int64_t j) {
  const Problem &p = in.problem;
  if (j < p.firstKey(row.i) || j >= p.endKey(row.i)) {
    return false;
  }
  bool isAllowed = true;
  if (p.allow) {
    p.allow->foldMask(in.captures, row, j, 1, &isAllowed);
  }
  return isAllowed;
}

/// Calls `visit(j)` for the admissible keys of a row, until it returns false.
template <typename Visit>
static void forAdmissibleKeys(const ReferenceInputs &in, const Row &row,
                              const Visit &visit) {
  const Problem &p = in.problem;
  constexpr int64_t most = 64;
  int64_t end = p.endKey(row.i);
  for (int64_t first = p.firstKey(row.i); first < end; first += most) {
    int64_t count = std::min(most, end - first);
    bool allowed[most];
    std::fill_n(allowed, count, true);
    if (p.allow) {
      p.allow->foldMask(in.captures, row, first, size_t(count), allowed);
    }
    for (int64_t n = 0; n < count; ++n) {
      if (allowed[n] && !visit(first + n)) {
        return;
      }
    }
  }
}

bool attn::run::hasAdmissibleKey(const ReferenceInputs &in, const Row &row) {
  bool hasKey = false;
  forAdmissibleKeys(in, row, [&](int64_t) {
    hasKey = true;
    return false;
  });
  return hasKey;
}

int64_t attn::run::countAdmissiblePairs(const ReferenceInputs &in) {
  const Problem &p = in.problem;
  std::atomic<int64_t> total{0};
  // If all heads are alike, only one is counted.
  int64_t heads = p.allow && p.allow->usesHead() ? p.headsQ : 1;
  parallelFor(p.batch * heads * p.seqQ, 64, [&](int64_t begin, int64_t end) {
    int64_t pairs = 0;
    for (int64_t at = begin; at < end; ++at) {
      Row row = {at / p.seqQ / heads, at / p.seqQ % heads, at % p.seqQ};
      if (!p.allow) {
        pairs += std::max<int64_t>(0, p.endKey(row.i) - p.firstKey(row.i));
        continue;
      }
      forAdmissibleKeys(in, row, [&](int64_t) {
        ++pairs;
        return true;
      });
    }
    total += pairs;
  });
  return total * (p.headsQ / heads);
}

/// Adds in eight lanes, so that the order of additions does not depend on the
/// vector width.
ATTN_VECTORIZED
static double dot(const float *a, const float *b, int64_t size) {
  double lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (int l = 0; l < 8; ++l) {
      lanes[l] += double(a[i + l]) * double(b[i + l]);
    }
  }
  for (; i < size; ++i) {
    lanes[0] += double(a[i]) * double(b[i]);
  }
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

namespace {
/// The contribution of one key to each column.
struct Weights {
  double exact;
  double rounded;
  double bound;
};
} // namespace

ATTN_VECTORIZED
static void accumulate(const Weights &weights, const float *v, int64_t size,
                       double *exact, double *rounded, double *bound) {
  for (int64_t i = 0; i < size; ++i) {
    exact[i] += weights.exact * double(v[i]);
    rounded[i] += weights.rounded * double(v[i]);
    bound[i] += weights.bound * std::fabs(double(v[i]));
  }
}

/// Fills the keys and scores of a row.
static void scoreRow(const ReferenceInputs &in, const Row &row, int64_t headK,
                     RowResult &out) {
  const Problem &p = in.problem;
  const float *q = &in.q[size_t(
      p.rowIndex(row.batch, row.i, row.head, p.seqQ, p.headsQ) * p.dim)];
  double size = double(p.scale) * std::sqrt(dot(q, q, p.dim));
  forAdmissibleKeys(in, row, [&](int64_t j) {
    const float *k = &in.k[size_t(
        p.rowIndex(row.batch, j, headK, p.seqK, p.headsK) * p.dim)];
    double product = dot(q, k, p.dim);
    double stored = p.inputs.pattern == Pattern::Normal
                        ? roundTo(p.dtype, float(product))
                        : product;
    double scale = double(p.scale);
    out.keys.push_back(j);
    out.scores[Exact].push_back(product * scale);
    out.scores[Single].push_back(float(product * scale));
    out.scores[Rounded].push_back(stored * scale);
    double shift =
        in.numerics[Bound::ScoreRelative] * size * std::sqrt(dot(k, k, p.dim));
    out.scores[Shifted].push_back(float(product * scale + shift));
    return true;
  });
  if (p.score) {
    p.score->foldScores(in.captures, row, out.keys, out.scores);
  }
  if (p.inputs.pattern == Pattern::Normal) {
    for (double &score : out.scores[Rounded]) {
      score = float(score);
    }
  }
}

/// Replaces scores by exp(score - max); returns the sum and sets `most` to max.
/// If all scores are -inf, max is -inf and they become 0.
static double exponentiate(std::vector<double> &scores, double &most) {
  most = -INFINITY;
  for (double score : scores) {
    most = std::isnan(score) ? score : std::max(most, score);
  }
  if (most == -INFINITY) {
    std::fill(scores.begin(), scores.end(), 0.0);
    return 0;
  }
  double sum = 0;
  for (double &score : scores) {
    score = std::exp(score - most);
    sum += score;
  }
  return sum;
}

/// Returns `value` / `sum`, rounded as in a kernel. With scores that are not
/// normal, one key may have all of the weight: a kernel rounds it relative to a
/// reference that may differ from its score. This reference rounds a value of 1
/// as badly as possible.
static double roundProbability(const Problem &p, double value, double sum) {
  if (p.inputs.pattern == Pattern::Normal) {
    return roundTo(p.dtype, float(value / sum));
  }
  double halfUlp = p.dtype == runtime::DataType::F16 ? 0x1p-11 : 0x1p-8;
  double unit = 1 + halfUlp * 15 / 16;
  return roundTo(p.dtype, float(value * unit)) / (unit * sum);
}

/// Computes score errors from the lane with the largest score deviations.
static void findScoreErrors(const Problem &p, const std::vector<double> &exact,
                            std::vector<double> &shifted) {
  double factor = p.score ? kRegionFactor : 1;
  for (size_t n = 0; n < shifted.size(); ++n) {
    shifted[n] = factor * std::fabs(shifted[n] - exact[n]);
  }
}

/// Returns the mean of `errors` by weight. Errors without weight become 0.
static double meanError(const std::vector<double> &weights, double sum,
                        std::vector<double> &errors) {
  double mean = 0;
  for (size_t n = 0; n < errors.size(); ++n) {
    errors[n] = weights[n] > 0 ? errors[n] : 0;
    mean += weights[n] / sum * errors[n];
  }
  return mean;
}

/// Computes O and its bound from weights, and the bound of the LSE.
static void combineValues(const ReferenceInputs &in, const Row &row,
                          int64_t headK, double sum, double roundedSum,
                          RowResult &out) {
  const Problem &p = in.problem;
  const runtime::PlanNumerics &numerics = in.numerics;
  double keys = double(out.keys.size());
  double scoreError = meanError(out.scores[Exact], sum, out.scores[Shifted]);
  double common = numerics[Bound::ORelative] + keys * numerics[Bound::OPerKey] +
                  std::expm1(scoreError);
  // A factor of dropout or of a sink is rounded, and so is its product.
  if (p.dropout.isOn()) {
    common += 0x1p-22;
  }
  if (!p.sinks.empty()) {
    common += numerics[Bound::LseRelative] * std::fabs(out.lse) +
              numerics[Bound::LseAbsolute] +
              std::sqrt(keys) * numerics[Bound::LsePerRootKey] + 0x1p-20;
  }
  for (size_t n = 0; n < out.keys.size(); ++n) {
    const float *v = &in.v[size_t(
        p.rowIndex(row.batch, out.keys[n], headK, p.seqK, p.headsK) * p.dimV)];
    double factor = out.share * out.factors[n];
    Weights weights;
    weights.exact = out.scores[Exact][n] / sum * factor;
    weights.rounded =
        roundProbability(p, out.scores[Rounded][n], roundedSum) * factor;
    weights.bound =
        weights.exact * (common + std::expm1(out.scores[Shifted][n])) +
        (factor == 0 ? 0 : numerics[Bound::Flush] * std::max(1.0, factor));
    accumulate(weights, v, p.dimV, out.exact.data(), out.rounded.data(),
               out.bound.data());
  }
  for (int64_t c = 0; c < p.dimV; ++c) {
    out.rounded[size_t(c)] = roundTo(p.dtype, float(out.rounded[size_t(c)]));
    out.bound[size_t(c)] += numerics[Bound::Flush];
  }
  out.lseBound = numerics[Bound::LseAbsolute] +
                 std::sqrt(keys) * numerics[Bound::LsePerRootKey] +
                 numerics[Bound::LseRelative] * std::fabs(out.lse) + scoreError;
}

/// Sets the factors of dropout, and adds the sink to the LSE.
static void dropAndSink(const Problem &p, const Row &row, RowResult &out) {
  Dropout::OfRow dropout(p.dropout, row);
  out.factors.clear();
  for (int64_t key : out.keys) {
    out.factors.push_back(dropout.factorOf(key));
  }
  out.share = 1;
  if (p.sinks.empty()) {
    return;
  }
  double keys = out.lse, sink = double(p.sinks[size_t(row.head)]);
  double most = std::max(keys, sink);
  if (most > -INFINITY) {
    out.lse = most + std::log(std::exp(keys - most) + std::exp(sink - most));
    out.share = std::exp(keys - out.lse);
  }
}

void attn::run::computeRow(const ReferenceInputs &in, const Row &row,
                           RowResult &out) {
  const Problem &p = in.problem;
  out.keys.clear();
  for (std::vector<double> &lane : out.scores) {
    lane.clear();
  }
  for (std::vector<double> *columns : {&out.exact, &out.rounded, &out.bound}) {
    columns->assign(size_t(p.dimV), 0);
  }
  int64_t headK = row.head / (p.headsQ / p.headsK);
  scoreRow(in, row, headK, out);
  out.hasKeys = !out.keys.empty();
  out.lse = -INFINITY;
  out.lseBound = 0;
  if (!out.hasKeys) {
    dropAndSink(p, row, out);
    return;
  }
  double most = 0;
  double ignored = 0;
  findScoreErrors(p, out.scores[Exact], out.scores[Shifted]);
  double sum = exponentiate(out.scores[Exact], most);
  double roundedSum = exponentiate(out.scores[Rounded], ignored);
  out.lse = most + std::log(sum);
  dropAndSink(p, row, out);
  if (sum == 0) {
    return;
  }
  combineValues(in, row, headK, sum, roundedSum, out);
}
