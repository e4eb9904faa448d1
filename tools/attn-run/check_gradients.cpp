// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check_gradients.h"

#include "numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attn;
using namespace attn::run;
using runtime::Role;

bool attn::run::makesGradients(const runtime::LaunchPlan &plan) {
  return !gradientsOf(plan.problem.kind).empty() || isWholeBackward(plan);
}

/// Sets the statistics of each row, also of those after the last query.
static void setStatistics(const Problem &p, const Gradients &of,
                          HostTensor &delta, HostTensor &lse2) {
  constexpr double log2e = 1.4426950408889634;
  int64_t rows = p.statisticRows;
  for (int64_t at = 0; at < p.batch * p.headsQ * rows; ++at) {
    int64_t row = at % rows;
    size_t number = size_t(at / rows * p.seqQ + row);
    bool isEmpty = row >= p.seqQ || of.lse[number] == -INFINITY;
    delta.set(at, isEmpty ? 0 : float(of.delta[number]));
    lse2.set(at, isEmpty ? INFINITY : float(of.lse[number] * log2e));
  }
}

static HostTensor &tensorOf(std::vector<HostTensor> &tensors, Role role) {
  return *std::find_if(
      tensors.begin(), tensors.end(),
      [&](const HostTensor &tensor) { return tensor.role == role; });
}

/// Sets the results of the forward pass, and the gradient of its LSE.
static void setResults(const ResultGradients &of, const Gradients &gradients,
                       std::vector<HostTensor> &tensors) {
  auto set = [&](Role role, const auto &value) {
    tensorOf(tensors, role).fill([&](int64_t at) {
      return float(value[size_t(at)]);
    });
  };
  set(Role::Output, gradients.output);
  set(Role::Lse, gradients.lse);
  set(Role::LseGradient, of.lse);
}

Gradients attn::run::makeStatistics(const runtime::LaunchPlan &plan,
                                    size_t variant, const Problem &problem,
                                    std::vector<HostTensor> &tensors) {
  ReferenceInputs in = makeReferenceInputs(plan, variant, problem, tensors);
  ResultGradients of;
  of.numerics = plan.variants[variant].gradientNumerics.value_or(of.numerics);
  in.numerics[runtime::PlanNumerics::ScoreRelative] =
      of.numerics[runtime::PlanGradientNumerics::ScoreRelative];
  of.o = findTensor(tensors, Role::OutputGradient)->toFloats();
  Random random(problem.seed, 3001);
  for (int64_t at = 0; at < problem.rows(); ++at) {
    of.lse.push_back(random.normal(uint64_t(at)));
  }
  bool isWhole = isWholeBackward(plan);
  of.roundsOutput = isWhole;
  of.ofCaptures = findTensor(tensors, Role::CaptureGradient);
  Gradients gradients = computeGradients(in, of);
  if (isWhole) {
    setResults(of, gradients, tensors);
    return gradients;
  }
  setStatistics(problem, gradients, tensorOf(tensors, Role::Delta),
                tensorOf(tensors, Role::Lse2));
  return gradients;
}

namespace {

/// The errors of one gradient.
struct GradientErrors {
  double max = 0, maxRounded = 0, mean = 0, meanRounded = 0, share = 0;
};

/// Compares one gradient.
class GradientChecker {
public:
  GradientChecker(const Gradients &want,
                  std::vector<double> GradientElements::*elements,
                  const HostTensor &got, const char *name, CheckResult &result)
      : exact(want.*elements), rounded(want.rounded.*elements),
        bound(want.bound.*elements), got(got), name(name), result(result) {}

  GradientErrors check();

private:
  void compare(size_t at, GradientErrors &errors);
  void countRows();
  void judge(const GradientErrors &errors);
  void fail(const std::string &text) {
    result.failure = result.failure.empty() ? text : result.failure;
  }

  const std::vector<double> &exact, &rounded, &bound;
  const HostTensor &got;
  const char *name;
  CheckResult &result;
};

std::string text(const char *format, const char *name, double a, double b,
                 double c = 0) {
  char buffer[160];
  std::snprintf(buffer, sizeof(buffer), format, name, a, b, c);
  return buffer;
}

} // namespace

void GradientChecker::compare(size_t at, GradientErrors &errors) {
  double is = got.get(int64_t(at)), error = std::fabs(is - exact[at]);
  if (!(error <= bound[at])) {
    size_t columns = size_t(got.shape[3]);
    fail(text("expected %s to be %.6g within %.2g, got %.6g", name, exact[at],
              bound[at], is) +
         " in row " + std::to_string(at / columns) + ", column " +
         std::to_string(at % columns));
    return;
  }
  errors.share = std::max(errors.share, bound[at] == 0 ? 0 : error / bound[at]);
  double ofRounded = std::fabs(rounded[at] - exact[at]);
  errors.max = std::max(errors.max, error);
  errors.maxRounded = std::max(errors.maxRounded, ofRounded);
  errors.mean += error / double(exact.size());
  errors.meanRounded += ofRounded / double(exact.size());
}

/// A row is empty if none of its scores has weight.
void GradientChecker::countRows() {
  size_t columns = size_t(got.shape[3]);
  for (size_t at = 0; at < exact.size(); at += columns) {
    bool isEmpty = std::all_of(bound.begin() + int64_t(at),
                               bound.begin() + int64_t(at + columns),
                               [](double x) { return x == 0; });
    ++result.rows;
    ++(isEmpty ? result.emptyRows : result.rowsCompared);
  }
}

void GradientChecker::judge(const GradientErrors &errors) {
  double most = kMaxErrorFactor * errors.maxRounded + kMaxErrorFloor;
  double mean = kMeanErrorFactor * errors.meanRounded + kMeanErrorFloor;
  if (!(errors.max <= most)) {
    fail(text("expected the max error of %s to be at most %.3g, got %.3g", name,
              most, errors.max));
  } else if (!(errors.mean <= mean)) {
    fail(text("expected the mean error of %s to be at most %.3g, got %.3g",
              name, mean, errors.mean));
  }
}

GradientErrors GradientChecker::check() {
  GradientErrors errors;
  for (size_t at = 0; at < exact.size(); ++at) {
    compare(at, errors);
  }
  countRows();
  judge(errors);
  return errors;
}

/// Compares the gradient of a capture, or of the scale, with its bound.
static void checkCapture(const CaptureGradient &want, const HostTensor &got,
                         CheckResult &result) {
  bool isHalf = got.dtype == runtime::DataType::F16;
  double unit = got.dtype == runtime::DataType::F32 ? 0x1p-24
                : isHalf                            ? 0x1p-11
                                                    : 0x1p-8;
  double most = 0, share = 0;
  for (size_t at = 0; at < want.exact.size(); ++at) {
    double is = got.get(int64_t(at)), exact = want.exact[at];
    double error = std::fabs(is - exact), bound = want.bound[at];
    bound += bound == 0 ? 0 : std::fabs(exact) * unit + (isHalf ? 0x1p-25 : 0);
    if (!(error <= bound) && result.failure.empty()) {
      result.failure = text("expected %s to be %.6g within %.2g, got %.6g",
                            got.name.c_str(), exact, bound, is) +
                       " in element " + std::to_string(at);
    }
    most = std::max(most, error);
    share = std::max(share, bound == 0 ? 0 : error / bound);
  }
  if (!result.name) {
    result.name = got.name.c_str();
    result.maxError = most;
    result.oShare = share;
    result.rows = result.rowsCompared = int64_t(want.exact.size());
    return;
  }
  char line[160];
  std::snprintf(line, sizeof(line), "; %s max %.3g, %.2g of its bound",
                got.name.c_str(), most, share);
  result.captures += line;
}

/// Returns the gradient of an argument of the plan, or of the scale where the
/// plan fixes it.
static const CaptureGradient &gradientOf(const runtime::LaunchPlan &plan,
                                         int arg, const Gradients &want) {
  std::optional<Role> role =
      arg < 0 ? Role::Scale : plan.args[size_t(arg)].role;
  return role == Role::Scale   ? want.scale
         : role == Role::Sinks ? want.sinks
                               : want.captures[size_t(arg)];
}

/// Checks the gradients of captures: each is named like its capture, after a
/// "d".
static void checkCaptureGradients(const runtime::LaunchPlan &plan,
                                  const Gradients &want,
                                  const std::vector<HostTensor> &tensors,
                                  CheckResult &result) {
  for (const HostTensor &got : tensors) {
    if (got.role != Role::CaptureGradient) {
      continue;
    }
    const CaptureGradient &gradient =
        gradientOf(plan, plan.findArg(got.name.substr(1)), want);
    if (int64_t(gradient.exact.size()) != got.elementCount()) {
      result.failure = "expected '" + got.name + "' to have " +
                       std::to_string(gradient.exact.size()) +
                       " elements, got " + std::to_string(got.elementCount());
      return;
    }
    checkCapture(gradient, got, result);
  }
}

CheckResult attn::run::checkGradients(const runtime::LaunchPlan &plan,
                                      const Gradients &want,
                                      const std::vector<HostTensor> &tensors) {
  struct Part {
    Role role;
    const char *name;
    std::vector<double> GradientElements::*elements;
  };
  static constexpr Part parts[] = {
      {Role::QueryGradient, "dQ", &GradientElements::q},
      {Role::KeyGradient, "dK", &GradientElements::k},
      {Role::ValueGradient, "dV", &GradientElements::v}};
  CheckResult result;
  result.name = result.lseName = nullptr;
  for (const Part &part : parts) {
    const HostTensor *got = findTensor(tensors, part.role);
    if (!got) {
      continue;
    }
    GradientErrors errors =
        GradientChecker(want, part.elements, *got, part.name, result).check();
    if (!result.name) {
      result.name = part.name;
      result.maxError = errors.max;
      result.maxErrorRounded = errors.maxRounded;
      result.meanError = errors.mean;
      result.meanErrorRounded = errors.meanRounded;
      result.oShare = errors.share;
    } else {
      result.lseName = result.lseName ? "dK and dV" : part.name;
      result.lseError = std::max(result.lseError, errors.max);
      result.lseShare = std::max(result.lseShare, errors.share);
    }
  }
  checkCaptureGradients(plan, want, tensors, result);
  return result;
}
