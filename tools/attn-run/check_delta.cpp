// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check_delta.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attn;
using namespace attn::run;
using Bound = runtime::PlanGradientNumerics;
using runtime::Role;

namespace {

constexpr double kLog2e = 1.4426950408889634;

/// The right value of a row, and the allowed error.
struct Statistic {
  double want, bound;
};

class RowChecker {
public:
  RowChecker(const runtime::PlanGradientNumerics &numerics,
             const Problem &problem, const std::vector<HostTensor> &tensors)
      : numerics(numerics), p(problem), out(*findTensor(tensors, Role::Output)),
        outGradient(*findTensor(tensors, Role::OutputGradient)),
        lse(*findTensor(tensors, Role::Lse)),
        lseGradient(*findTensor(tensors, Role::LseGradient)),
        delta(*findTensor(tensors, Role::Delta)),
        lse2(*findTensor(tensors, Role::Lse2)) {
    result.name = runtime::nameOf(Role::Delta);
    result.lseName = runtime::nameOf(Role::Lse2);
  }

  void checkRow(const Row &row);
  CheckResult take() { return result; }

private:
  Statistic deltaOf(const Row &row, int64_t number) const;
  void checkEmpty(const Row &row, double gotDelta, double gotLse2);
  void compare(const Row &row, const char *name, Statistic statistic,
               double got, double &error, double &share);
  void fail(const Row &row, const char *name, double want, double got);

  const runtime::PlanGradientNumerics &numerics;
  const Problem &p;
  const HostTensor &out, &outGradient, &lse, &lseGradient, &delta, &lse2;
  CheckResult result;
};

} // namespace

void RowChecker::fail(const Row &row, const char *name, double want,
                      double got) {
  if (!result.failure.empty()) {
    return;
  }
  char text[160];
  std::snprintf(text, sizeof(text),
                "expected %s to be %.9g, got %.9g at batch %lld, head %lld, "
                "row %lld",
                name, want, got, static_cast<long long>(row.batch),
                static_cast<long long>(row.head),
                static_cast<long long>(row.i));
  result.failure = text;
}

Statistic RowChecker::deltaOf(const Row &row, int64_t number) const {
  int64_t first =
      p.rowIndex(row.batch, row.i, row.head, p.seqQ, p.headsQ) * p.dimV;
  double sum = -lseGradient.get(number), size = std::fabs(sum);
  for (int64_t c = 0; c < p.dimV; ++c) {
    double product = out.get(first + c) * outGradient.get(first + c);
    sum += product;
    size += std::fabs(product);
  }
  return {sum, numerics[Bound::DeltaRelative] * size + numerics[Bound::Flush]};
}

void RowChecker::compare(const Row &row, const char *name, Statistic statistic,
                         double got, double &error, double &share) {
  double distance = std::fabs(got - statistic.want);
  if (!(distance <= statistic.bound)) {
    fail(row, name, statistic.want, got);
    return;
  }
  error = std::max(error, distance);
  share = std::max(share, distance / statistic.bound);
}

void RowChecker::checkEmpty(const Row &row, double gotDelta, double gotLse2) {
  ++result.emptyRows;
  if (gotDelta != 0) {
    fail(row, result.name, 0, gotDelta);
  }
  if (gotLse2 != INFINITY) {
    fail(row, result.lseName, INFINITY, gotLse2);
  }
}

void RowChecker::checkRow(const Row &row) {
  ++result.rows;
  int64_t head = row.batch * p.headsQ + row.head;
  double gotDelta = delta.get(head * p.statisticRows + row.i);
  double gotLse2 = lse2.get(head * p.statisticRows + row.i);
  int64_t number = head * p.seqQ + row.i;
  if (row.i >= p.seqQ || lse.get(number) == -INFINITY) {
    checkEmpty(row, gotDelta, gotLse2);
    return;
  }
  ++result.rowsCompared;
  compare(row, result.name, deltaOf(row, number), gotDelta, result.maxError,
          result.oShare);
  double want = lse.get(number) * kLog2e;
  compare(row, result.lseName,
          {want, numerics[Bound::Lse2Relative] * std::fabs(want) +
                     numerics[Bound::Flush]},
          gotLse2, result.lseError, result.lseShare);
}

CheckResult attn::run::checkDelta(const runtime::LaunchPlan &plan,
                                  size_t variant, const Problem &problem,
                                  const std::vector<HostTensor> &tensors) {
  runtime::PlanGradientNumerics numerics =
      plan.variants[variant].gradientNumerics.value_or(
          runtime::PlanGradientNumerics());
  RowChecker checker(numerics, problem, tensors);
  int64_t rows = problem.statisticRows, heads = problem.headsQ;
  for (int64_t at = 0; at < problem.batch * heads * rows; ++at) {
    checker.checkRow({at / (heads * rows), at / rows % heads, at % rows});
  }
  return checker.take();
}
