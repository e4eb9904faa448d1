// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gradients.h"

using namespace attn;
using namespace attn::run;

namespace {

/// Adds the contributions of rows, one after the other.
class Accumulator {
public:
  Accumulator(const ReferenceInputs &in, const ResultGradients &of)
      : in(in), p(in.problem), of(of) {
    out.q.resize(in.q.size());
    out.k.resize(in.k.size());
    out.v.resize(in.v.size());
    out.delta.resize(size_t(p.rows()));
  }

  void addRow(const Row &row);
  Gradients take() { return std::move(out); }

private:
  size_t rowOfQueries(const Row &row) const {
    return size_t(p.rowIndex(row.batch, row.i, row.head, p.seqQ, p.headsQ));
  }
  size_t rowOfKeys(const Row &row, int64_t j) const {
    int64_t headK = row.head / (p.headsQ / p.headsK);
    return size_t(p.rowIndex(row.batch, j, headK, p.seqK, p.headsK));
  }
  void findSlopes(const Row &row);
  void addKey(const Row &row, size_t number, double weight, double delta);

  const ReferenceInputs &in;
  const Problem &p;
  const ResultGradients &of;
  Gradients out;
  // Of the current row.
  RowResult result;
  std::vector<double> scores, slopes;
};

double dot(const float *a, const float *b, int64_t size) {
  double sum = 0;
  for (int64_t c = 0; c < size; ++c) {
    sum += double(a[c]) * double(b[c]);
  }
  return sum;
}

} // namespace

/// Computes the derivatives of the scores by the products of Q, the scale and
/// K.
void Accumulator::findSlopes(const Row &row) {
  slopes.assign(result.keys.size(), 1);
  if (!p.score) {
    return;
  }
  const float *q = &in.q[rowOfQueries(row) * size_t(p.dim)];
  scores.clear();
  for (int64_t j : result.keys) {
    const float *k = &in.k[rowOfKeys(row, j) * size_t(p.dim)];
    scores.push_back(dot(q, k, p.dim) * double(p.scale));
  }
  p.score->foldSlopes(in.captures, row, result.keys, scores, slopes);
}

/// Adds key `number` of the row, whose probability is `weight`.
void Accumulator::addKey(const Row &row, size_t number, double weight,
                         double delta) {
  size_t query = rowOfQueries(row), key = rowOfKeys(row, result.keys[number]);
  const float *dO = &of.o[query * size_t(p.dimV)];
  const float *v = &in.v[key * size_t(p.dimV)];
  for (int64_t c = 0; c < p.dimV; ++c) {
    out.v[key * size_t(p.dimV) + size_t(c)] += weight * double(dO[c]);
  }
  double ofScore = weight * (dot(dO, v, p.dimV) - delta);
  if (ofScore == 0) {
    return; // the slope may be infinite
  }
  double ofProduct = ofScore * slopes[number] * double(p.scale);
  for (int64_t c = 0; c < p.dim; ++c) {
    size_t q = query * size_t(p.dim) + size_t(c);
    size_t k = key * size_t(p.dim) + size_t(c);
    out.q[q] += ofProduct * double(in.k[k]);
    out.k[k] += ofProduct * double(in.q[q]);
  }
}

void Accumulator::addRow(const Row &row) {
  computeRow(in, row, result);
  const std::vector<double> &weights = result.scores[Exact];
  double sum = 0;
  for (double weight : weights) {
    sum += weight;
  }
  if (!result.hasKeys || sum == 0) {
    return;
  }
  const float *dO = &of.o[rowOfQueries(row) * size_t(p.dimV)];
  size_t number = size_t((row.batch * p.headsQ + row.head) * p.seqQ + row.i);
  double delta = of.lse.empty() ? 0 : -double(of.lse[number]);
  for (int64_t c = 0; c < p.dimV; ++c) {
    delta += double(dO[c]) * result.exact[size_t(c)];
  }
  out.delta[number] = delta;
  findSlopes(row);
  for (size_t n = 0; n < result.keys.size(); ++n) {
    if (weights[n] > 0) {
      addKey(row, n, weights[n] / sum, delta);
    }
  }
}

Gradients attn::run::computeGradients(const ReferenceInputs &in,
                                      const ResultGradients &of) {
  const Problem &p = in.problem;
  Accumulator accumulator(in, of);
  for (int64_t at = 0; at < p.rows(); ++at) {
    accumulator.addRow(
        {at / (p.headsQ * p.seqQ), at / p.seqQ % p.headsQ, at % p.seqQ});
  }
  return accumulator.take();
}
