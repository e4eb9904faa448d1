// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gradients.h"

#include "numbers.h"

#include <cmath>

using namespace attn;
using namespace attn::run;
using Bound = runtime::PlanGradientNumerics;

namespace {

/// Adds the contributions of rows, one after the other.
class Accumulator {
public:
  Accumulator(const ReferenceInputs &in, const ResultGradients &of)
      : in(in), p(in.problem), of(of) {
    for (GradientElements *elements :
         {static_cast<GradientElements *>(&out), &out.rounded, &out.bound}) {
      elements->q.resize(in.q.size());
      elements->k.resize(in.k.size());
      elements->v.resize(in.v.size());
    }
    out.delta.resize(size_t(p.rows()));
    out.lse.assign(size_t(p.rows()), -INFINITY);
    out.output.resize(of.o.size());
    if (of.ofCaptures) {
      resizeCaptures();
    }
  }

  void addRow(const Row &row);
  Gradients take();

private:
  size_t rowOfQueries(const Row &row) const {
    return size_t(p.rowIndex(row.batch, row.i, row.head, p.seqQ, p.headsQ));
  }
  size_t rowOfKeys(const Row &row, int64_t j) const {
    int64_t headK = row.head / (p.headsQ / p.headsK);
    return size_t(p.rowIndex(row.batch, j, headK, p.seqK, p.headsK));
  }
  void findSlopes(const Row &row);
  void resizeCaptures();
  double findDelta(const Row &row);
  void addToCaptures(size_t number, double derivative, double error);
  void addTo(CaptureGradient &gradient, int64_t element, double derivative,
             double error, double slope, double slopeError) const;
  /// The largest error of the exponent of a probability, of a score that has
  /// this error.
  double exponentError(double score, double error) const {
    return error + numerics[Bound::Exponential] +
           numerics[Bound::ExponentRelative] *
               (std::fabs(result.lse) + std::fabs(score));
  }
  void addToSinks(const Row &row, double delta);
  void addKey(const Row &row, size_t number, double weight, double delta);
  void addValue(size_t query, size_t key, double weight, double error,
                double factor);
  void addProduct(size_t query, size_t key, double derivative, double error,
                  double known);
  double keepWeight(double weight) const;
  /// The largest errors of a value of that size when it is rounded to the
  /// problem's dtype, and in the operations of f32 that it comes from.
  double halfUnit(double value) const {
    return std::fabs(value) * numerics[Bound::Rounding] +
           numerics[Bound::Least];
  }
  double operations(double value) const {
    return std::fabs(value) * numerics[Bound::Operations];
  }
  /// The largest error of a term of a sum of so many products, one factor of
  /// which is rounded to the problem's dtype and has this value.
  double termError(double value, int64_t terms) const {
    return halfUnit(value) + operations(value) +
           std::fabs(value) * numerics[Bound::PerProduct] * double(terms);
  }
  /// The queries of all heads that share a key.
  int64_t queriesOfKey() const { return p.seqQ * (p.headsQ / p.headsK); }

  const ReferenceInputs &in;
  const Problem &p;
  const ResultGradients &of;
  const runtime::PlanGradientNumerics &numerics = of.numerics;
  Gradients out;
  // Of the current row.
  RowResult result;
  std::vector<double> scores, scoreErrors, slopes, slopeErrors;
  std::vector<std::vector<CaptureSlope>> captureSlopes;
  double deltaError = 0; // of the statistic
};

double dot(const float *a, const float *b, int64_t size) {
  double sum = 0;
  for (int64_t c = 0; c < size; ++c) {
    sum += double(a[c]) * double(b[c]);
  }
  return sum;
}

/// The length of a vector.
double norm(const float *a, int64_t size) { return std::sqrt(dot(a, a, size)); }

} // namespace

/// Computes the derivatives of the scores by the products of Q, the scale and
/// K.
void Accumulator::findSlopes(const Row &row) {
  slopes.assign(result.keys.size(), 1);
  slopeErrors.assign(result.keys.size(), 0);
  if (!p.score && !of.ofCaptures) {
    return;
  }
  const float *q = &in.q[rowOfQueries(row) * size_t(p.dim)];
  scores.clear();
  scoreErrors.clear();
  double size = double(p.scale) * norm(q, p.dim);
  for (int64_t j : result.keys) {
    const float *k = &in.k[rowOfKeys(row, j) * size_t(p.dim)];
    scores.push_back(dot(q, k, p.dim) * double(p.scale));
    scoreErrors.push_back(in.numerics[runtime::PlanNumerics::ScoreRelative] *
                          size * norm(k, p.dim));
  }
  if (p.score) {
    p.score->foldSlopes(in.captures, row, result.keys, scores, scoreErrors,
                        slopes, slopeErrors);
  }
  if (p.score && of.ofCaptures) {
    p.score->foldCaptureSlopes(in.captures, row, result.keys, scores,
                               scoreErrors, captureSlopes);
  }
}

void Accumulator::resizeCaptures() {
  auto resize = [](CaptureGradient &gradient, size_t size) {
    gradient.exact.assign(size, 0);
    gradient.bound.assign(size, 0);
  };
  out.captures.resize(in.captures.size());
  for (size_t n = 0; n < in.captures.size(); ++n) {
    resize(out.captures[n], in.captures[n].floats.size());
  }
  resize(out.scale, 1);
  resize(out.sinks, p.sinks.size());
}

/// Adds a pair's share. `derivative` is that by the score, and `error` its
/// error.
void Accumulator::addTo(CaptureGradient &gradient, int64_t element,
                        double derivative, double error, double slope,
                        double slopeError) const {
  double share = derivative * slope;
  if (derivative == 0 && !std::isfinite(slope)) {
    share = 0;
  }
  // Each of these additions may round a partial sum as large as the sum of all
  // magnitudes.
  double additions = double(p.seqK + p.rows()) * numerics[Bound::PerAddition];
  gradient.exact[size_t(element)] += share;
  double ofSlope =
      error * std::fabs(slope) + (std::fabs(derivative) + error) * slopeError;
  gradient.bound[size_t(element)] +=
      kRegionFactor * ofSlope + operations(share) +
      additions * std::fabs(share) + numerics[Bound::Flush];
}

/// Adds the shares of key `number` in the gradients of captures and the scale.
void Accumulator::addToCaptures(size_t number, double derivative,
                                double error) {
  if (!of.ofCaptures) {
    return;
  }
  double ofScale = scores[number] / double(p.scale);
  addTo(out.scale, 0, derivative, error, slopes[number] * ofScale,
        slopeErrors[number] * std::fabs(ofScale));
  if (!p.score) {
    return;
  }
  for (const CaptureSlope &by : captureSlopes[number]) {
    addTo(out.captures[by.arg], by.element, derivative, error, by.slope,
          by.error);
  }
}

/// Adds a pair's share of dV. `error` is that of the probability, `factor` that
/// of dropout.
void Accumulator::addValue(size_t query, size_t key, double weight,
                           double error, double factor) {
  double rounded = roundTo(p.dtype, float(weight)) * factor;
  error = (error + termError(weight, queriesOfKey())) * factor;
  weight *= factor;
  for (int64_t c = 0; c < p.dimV; ++c) {
    size_t v = key * size_t(p.dimV) + size_t(c);
    double dO = double(of.o[query * size_t(p.dimV) + size_t(c)]);
    out.v[v] += weight * dO;
    out.rounded.v[v] += rounded * dO;
    out.bound.v[v] += error * std::fabs(dO);
  }
}

/// Adds a pair's shares of dQ and dK, without the scale. `error` is that of the
/// derivative by the product of Q and K, `known` the part of it that a
/// reference that rounds like the kernel has, too.
void Accumulator::addProduct(size_t query, size_t key, double derivative,
                             double error, double known) {
  double rounded = roundTo(p.dtype, float(derivative + known));
  double errorQ = error + termError(derivative, p.seqK);
  double errorK = error + termError(derivative, queriesOfKey());
  for (int64_t c = 0; c < p.dim; ++c) {
    size_t q = query * size_t(p.dim) + size_t(c);
    size_t k = key * size_t(p.dim) + size_t(c);
    double ofQ = double(in.q[q]), ofK = double(in.k[k]);
    out.q[q] += derivative * ofK;
    out.k[k] += derivative * ofQ;
    out.rounded.q[q] += rounded * ofK;
    out.rounded.k[k] += rounded * ofQ;
    out.bound.q[q] += errorQ * std::fabs(ofK);
    out.bound.k[k] += errorK * std::fabs(ofQ);
  }
}

/// Returns the P that a kernel has for dX, which it may keep in f16 times a
/// power of two: half of the smallest f16 is 2^-25.
double Accumulator::keepWeight(double weight) const {
  double least = numerics[Bound::KeptLeast];
  if (least == 0) {
    return weight;
  }
  double scale = 0x1p-25 / least;
  return roundTo(runtime::DataType::F16, float(weight * scale)) / scale;
}

/// Adds the row's share of the gradient of its sink, a score without a value.
void Accumulator::addToSinks(const Row &row, double delta) {
  if (!of.ofCaptures || p.sinks.empty()) {
    return;
  }
  double sink = double(p.sinks[size_t(row.head)]);
  double weight = std::exp(sink - result.lse);
  double ofWeight =
      (weight == 0 ? 0 : weight * std::expm1(exponentError(sink, 0))) +
      numerics[Bound::Flush];
  addTo(out.sinks, row.head, -weight * delta,
        ofWeight * std::fabs(delta) + weight * deltaError, /*slope=*/1,
        /*slopeError=*/0);
}

/// Adds key `number` of the row, whose probability is `weight`.
void Accumulator::addKey(const Row &row, size_t number, double weight,
                         double delta) {
  size_t query = rowOfQueries(row), key = rowOfKeys(row, result.keys[number]);
  const float *dO = &of.o[query * size_t(p.dimV)];
  const float *v = &in.v[key * size_t(p.dimV)];
  // Exponents have the errors of the score and of the LSE.
  double score = result.lse + std::log(weight);
  double ofExponent = exponentError(score, result.scores[Shifted][number]);
  double ofWeight = (weight == 0 ? 0 : weight * std::expm1(ofExponent)) +
                    numerics[Bound::Flush];
  double factor = result.factors[number];
  addValue(query, key, weight, ofWeight, factor);
  double product = factor * dot(dO, v, p.dimV), difference = product - delta;
  double ofProduct = numerics[Bound::DpRelative] * factor * norm(dO, p.dimV) *
                         norm(v, p.dimV) +
                     deltaError + operations(difference) +
                     (p.dropout.isOn() ? operations(product) : 0);
  // dX may be computed from a P that is rounded.
  double kept = numerics[Bound::KeptRelative] * weight +
                (weight == 0 ? 0 : numerics[Bound::KeptLeast]);
  double error = (ofWeight + kept) * std::fabs(difference) + weight * ofProduct;
  addToCaptures(number, weight * difference, error + numerics[Bound::Flush]);
  double slope = slopes[number];
  if (weight * difference == 0 && !std::isfinite(slope)) {
    slope = 0;
  }
  double ofSlope =
      error * std::fabs(slope) +
      (weight * std::fabs(difference) + error) * slopeErrors[number];
  addProduct(query, key, weight * difference * slope,
             (p.score ? kRegionFactor : 1) * ofSlope,
             weight * difference * slopeErrors[number] +
                 (keepWeight(weight) - weight) * difference * slope);
}

/// Applies the scale and the last rounding. Each addition to a sum may leave a
/// value that is flushed, and so may the sum be when it is multiplied.
Gradients Accumulator::take() {
  auto finish = [&](double scale, double factor, int64_t terms, auto elements) {
    std::vector<double> &exact = out.*elements,
                        &rounded = out.rounded.*elements,
                        &bound = out.bound.*elements;
    double flushed = factor * double(terms) * numerics[Bound::Flush];
    for (size_t n = 0; n < exact.size(); ++n) {
      exact[n] *= scale;
      rounded[n] = roundTo(p.dtype, float(rounded[n] * scale));
      bound[n] = bound[n] == 0 ? 0
                               : bound[n] * scale + flushed +
                                     halfUnit(exact[n]) + operations(exact[n]);
    }
  };
  double scale = double(p.scale);
  finish(scale, scale, p.seqK, &GradientElements::q);
  finish(scale, scale, queriesOfKey(), &GradientElements::k);
  finish(1, p.dropout.getFactor(), queriesOfKey(), &GradientElements::v);
  return std::move(out);
}

/// Returns the statistic of the row, and notes its O.
double Accumulator::findDelta(const Row &row) {
  size_t number = size_t((row.batch * p.headsQ + row.head) * p.seqQ + row.i);
  double delta = of.lse.empty() ? 0 : -double(of.lse[number]);
  double magnitude = std::fabs(delta);
  for (int64_t c = 0; c < p.dimV; ++c) {
    size_t at = rowOfQueries(row) * size_t(p.dimV) + size_t(c);
    double exact = result.exact[size_t(c)];
    out.output[at] = roundTo(p.dtype, float(exact));
    double stored = of.roundsOutput ? double(out.output[at]) : exact;
    delta += double(of.o[at]) * stored;
    magnitude += std::fabs(double(of.o[at]) * stored);
  }
  deltaError =
      numerics[Bound::DeltaRelative] * magnitude + numerics[Bound::Flush];
  return delta;
}

void Accumulator::addRow(const Row &row) {
  computeRow(in, row, result);
  const std::vector<double> &weights = result.scores[Exact];
  double sum = 0;
  for (double weight : weights) {
    sum += weight;
  }
  if (result.lse == -INFINITY) {
    return;
  }
  size_t number = size_t((row.batch * p.headsQ + row.head) * p.seqQ + row.i);
  double delta = findDelta(row);
  out.lse[number] = result.lse;
  out.delta[number] = delta;
  addToSinks(row, delta);
  if (!result.hasKeys || sum == 0) {
    return;
  }
  findSlopes(row);
  for (size_t n = 0; n < result.keys.size(); ++n) {
    if (weights[n] > 0) {
      addKey(row, n, weights[n] / sum * result.share, delta);
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
