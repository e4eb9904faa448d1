// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attn;
using namespace attn::run;

namespace {

/// The contribution of one row to the result.
struct RowErrors {
  bool compared = false;
  bool empty = false;
  double maxError = 0;
  double maxErrorRounded = 0;
  double sumError = 0;
  double sumErrorRounded = 0;
  double lseError = 0;
  double oShare = 0;
  double lseShare = 0;
  std::string failure;
};

std::string text(const char *format, double a, double b) {
  char buffer[160];
  std::snprintf(buffer, sizeof(buffer), format, a, b);
  return buffer;
}

double shareOf(double error, double bound) {
  return error == 0 ? 0 : error / bound;
}

class Checker {
public:
  Checker(const ReferenceInputs &in, const HostTensor &o, const HostTensor *lse)
      : in(in), p(in.problem), o(o), lse(lse) {}

  /// Row `index` in the order (batch, head, i).
  RowErrors checkRow(int64_t index, bool compare, RowResult &scratch) const;

private:
  double output(const Row &row, int64_t c) const {
    return o.get(
        p.rowIndex(row.batch, row.i, row.head, p.seqQ, p.headsQ) * p.dimV + c);
  }
  double outputLse(const Row &row) const {
    return lse->get((row.batch * p.headsQ + row.head) * p.seqQ + row.i);
  }
  /// Whether V has a non-finite element in this column, for a key that the row
  /// does not admit.
  bool mayBeAnything(const Row &row, int64_t c) const {
    return p.inputs.hasNonFinite() && c == 0 &&
           !isAdmissible(in, row, p.inputs.keyOfV());
  }
  void checkEmpty(const Row &row, RowErrors &errors) const;
  void compareLse(const Row &row, const RowResult &want,
                  RowErrors &errors) const;
  void checkFinite(const Row &row, RowErrors &errors) const;
  void compareRow(const Row &row, const RowResult &want,
                  RowErrors &errors) const;
  std::string where(const Row &row) const;

  const ReferenceInputs &in;
  const Problem &p;
  const HostTensor &o;
  const HostTensor *lse;
};

} // namespace

std::string Checker::where(const Row &row) const {
  return " at batch " + std::to_string(row.batch) + ", head " +
         std::to_string(row.head) + ", row " + std::to_string(row.i);
}

void Checker::checkEmpty(const Row &row, RowErrors &errors) const {
  errors.empty = true;
  for (int64_t c = 0; c < p.dimV; ++c) {
    if (output(row, c) != 0 && !mayBeAnything(row, c)) {
      errors.failure = "expected O to be 0 in a row without keys, got " +
                       text("%g", output(row, c), 0) + where(row);
      return;
    }
  }
  double want = p.sinks.empty() ? -INFINITY : double(p.sinks[size_t(row.head)]);
  bool isNear = std::isfinite(want) &&
                std::fabs(outputLse(row) - want) <= 1e-6 * std::fabs(want);
  if (lse && outputLse(row) != want && !isNear) {
    errors.failure = text("expected LSE to be %g in a row without keys, got %g",
                          want, outputLse(row)) +
                     where(row);
  }
}

void Checker::checkFinite(const Row &row, RowErrors &errors) const {
  for (int64_t c = 0; c < p.dimV; ++c) {
    if (!std::isfinite(output(row, c))) {
      errors.failure = "expected O to be finite, got " +
                       text("%g", output(row, c), 0) + where(row) +
                       ", column " + std::to_string(c);
      return;
    }
  }
  if (lse && !std::isfinite(outputLse(row))) {
    errors.failure = "expected LSE to be finite, got " +
                     text("%g", outputLse(row), 0) + where(row);
  }
}

void Checker::compareRow(const Row &row, const RowResult &want,
                         RowErrors &errors) const {
  errors.compared = true;
  // A weight of 0 times an infinite V is a NaN.
  bool weightless = want.lse == -INFINITY && p.inputs.hasNonFinite();
  for (int64_t c = 0; c < p.dimV; ++c) {
    double exact = want.exact[size_t(c)];
    bool finite = std::isfinite(exact);
    if (mayBeAnything(row, c) || (weightless && c == 0) ||
        (!finite && !std::isfinite(output(row, c)))) {
      continue;
    }
    if (!finite || !std::isfinite(output(row, c))) {
      errors.failure =
          text("expected O to be %g, got %g", exact, output(row, c)) +
          where(row) + ", column " + std::to_string(c);
      return;
    }
    double error = std::fabs(output(row, c) - exact);
    double rounded = std::fabs(want.rounded[size_t(c)] - exact);
    double bound = want.bound[size_t(c)];
    if (error > bound && errors.failure.empty()) {
      errors.failure = text("expected O to be %.6g", exact, 0) +
                       text(" within %.2g, got %.6g", bound, output(row, c)) +
                       where(row) + ", column " + std::to_string(c);
    }
    errors.oShare = std::max(errors.oShare, shareOf(error, bound));
    errors.maxError = std::max(errors.maxError, error);
    errors.maxErrorRounded = std::max(errors.maxErrorRounded, rounded);
    errors.sumError += error;
    errors.sumErrorRounded += rounded;
  }
  if (lse) {
    compareLse(row, want, errors);
  }
}

void Checker::compareLse(const Row &row, const RowResult &result,
                         RowErrors &errors) const {
  double got = outputLse(row), want = result.lse, bound = result.lseBound;
  if (!std::isfinite(want)) {
    if (std::isfinite(got)) {
      errors.failure =
          text("expected LSE to be %g, got %.9g", want, got) + where(row);
    }
    return;
  }
  errors.lseError = std::fabs(got - want);
  errors.lseShare = shareOf(errors.lseError, bound);
  if (!(errors.lseError <= bound)) {
    errors.failure = text("expected LSE to be %.9g", want, 0) +
                     text(" within %.2g, got %.9g", bound, got) + where(row);
  }
}

RowErrors Checker::checkRow(int64_t index, bool compare,
                            RowResult &scratch) const {
  Row row = {index / (p.headsQ * p.seqQ), index / p.seqQ % p.headsQ,
             index % p.seqQ};
  RowErrors errors;
  if (!hasAdmissibleKey(in, row)) {
    checkEmpty(row, errors);
    return errors;
  }
  if (!p.inputs.hasNonFinite()) {
    checkFinite(row, errors);
  }
  // The scores of a region may cause this.
  if (p.score && !errors.failure.empty()) {
    errors.failure.clear();
    compare = true;
  }
  if (compare && errors.failure.empty()) {
    computeRow(in, row, scratch);
    compareRow(row, scratch, errors);
  }
  return errors;
}

ReferenceInputs
attn::run::makeReferenceInputs(const runtime::LaunchPlan &plan, size_t variant,
                               const Problem &problem,
                               const std::vector<HostTensor> &tensors) {
  ReferenceInputs in;
  in.problem = problem;
  in.q = findTensor(tensors, runtime::Role::Query)->toFloats();
  in.k = findTensor(tensors, runtime::Role::Key)->toFloats();
  in.v = findTensor(tensors, runtime::Role::Value)->toFloats();
  in.captures = readCaptures(plan, problem, tensors);
  in.numerics = plan.variants[variant].numerics.value_or(in.numerics);
  return in;
}

/// Applies the bounds that hold over all compared rows.
static void judge(CheckResult &result) {
  if (!result.failure.empty()) {
    return;
  }
  double most = kMaxErrorFactor * result.maxErrorRounded + kMaxErrorFloor;
  double mean = kMeanErrorFactor * result.meanErrorRounded + kMeanErrorFloor;
  if (!(result.maxError <= most)) {
    result.failure = text("expected the max error of O to be at most %.3g, "
                          "got %.3g",
                          most, result.maxError);
  } else if (!(result.meanError <= mean)) {
    result.failure = text("expected the mean error of O to be at most %.3g, "
                          "got %.3g",
                          mean, result.meanError);
  }
}

CheckResult attn::run::checkOutputs(const ReferenceInputs &in,
                                    const HostTensor &o, const HostTensor *lse,
                                    double macBudget) {
  const Problem &p = in.problem;
  CheckResult result;
  result.rows = p.rows();
  constexpr double macsOfOp = 32;
  double ops = double(p.score ? p.score->opCount() : 0);
  double rowCost = std::max(
      1.0, double(p.seqK) * (double(2 * p.dim + 3 * p.dimV) + macsOfOp * ops));
  int64_t sample = int64_t(macBudget / rowCost);
  sample = std::clamp<int64_t>(sample, std::min<int64_t>(256, result.rows),
                               result.rows);
  Random random(p.seed, 3000);

  Checker checker(in, o, lse);
  std::vector<RowErrors> rows(static_cast<size_t>(result.rows));
  parallelFor(result.rows, 16, [&](int64_t begin, int64_t end) {
    RowResult scratch;
    for (int64_t i = begin; i < end; ++i) {
      // Row i is in the sample with equal probability; the first and last
      // always are.
      bool compare =
          sample == result.rows || i == 0 || i + 1 == result.rows ||
          random.uniform(uint64_t(i)) * double(result.rows) < double(sample);
      rows[size_t(i)] = checker.checkRow(i, compare, scratch);
    }
  });

  for (const RowErrors &row : rows) {
    result.rowsCompared += row.compared;
    result.emptyRows += row.empty;
    result.maxError = std::max(result.maxError, row.maxError);
    result.maxErrorRounded =
        std::max(result.maxErrorRounded, row.maxErrorRounded);
    result.meanError += row.sumError;
    result.meanErrorRounded += row.sumErrorRounded;
    result.lseError = std::max(result.lseError, row.lseError);
    result.oShare = std::max(result.oShare, row.oShare);
    result.lseShare = std::max(result.lseShare, row.lseShare);
    if (result.failure.empty()) {
      result.failure = row.failure;
    }
  }
  double elements = std::max(1.0, double(result.rowsCompared) * double(p.dimV));
  result.meanError /= elements;
  result.meanErrorRounded /= elements;
  judge(result);
  return result;
}
