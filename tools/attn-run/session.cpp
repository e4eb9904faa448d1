// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "session.h"

#include "check_delta.h"

#include <algorithm>

using namespace attn;
using namespace attn::run;

bool Session::fail(const std::string &message) {
  error = message;
  return false;
}

bool Session::failGpu() { return fail(gpu.getError()); }

/// Collects the values of the plan's scalar arguments, in its order.
static bool collectScalars(const runtime::LaunchPlan &plan,
                           const Problem &problem, std::vector<double> &scalars,
                           std::string &error) {
  for (const runtime::PlanArg &arg : plan.args) {
    if (arg.isTensor()) {
      continue;
    }
    auto bound = std::find_if(
        problem.bounds.begin(), problem.bounds.end(),
        [&](const auto &given) { return given.first == arg.name; });
    if (arg.role == runtime::Role::Scale) {
      scalars.push_back(double(problem.scale));
    } else if (arg.role == runtime::Role::DropoutRate) {
      scalars.push_back(double(problem.dropout.getRate()));
    } else if (bound != problem.bounds.end()) {
      scalars.push_back(double(bound->second));
    } else if (problem.captures.scalars.count(arg.name)) {
      scalars.push_back(problem.captures.scalars.at(arg.name));
    } else {
      error = "cannot tell the value of scalar '" + arg.name + "'";
      return false;
    }
  }
  return true;
}

/// Whether the inputs include what a forward pass would have computed. Without
/// whole groups of heads there are none: the launch is refused.
static bool needsStatistics(const runtime::LaunchPlan &plan,
                            const Problem &problem) {
  bool hasGroups = problem.headsK > 0 && problem.headsQ % problem.headsK == 0;
  return makesGradients(plan) && problem.hasTrueStatistics && hasGroups;
}

bool Session::prepare() {
  std::vector<runtime::Role> roles = neededRoles(plan);
  if (roles.empty()) {
    return fail(
        std::string(
            "expected a plan of kind 'fwd', 'delta' or of gradients, got '") +
        runtime::nameOf(plan.problem.kind) + "'");
  }
  for (runtime::Role role : roles) {
    if (plan.findArg(role) < 0) {
      return fail(std::string("expected the plan to have an argument of role "
                              "'") +
                  runtime::nameOf(role) + "', got none");
    }
  }
  if (!tensors.make(plan, problem, error)) {
    return false;
  }
  if (!collectScalars(plan, problem, scalars, error)) {
    return false;
  }
  args.size = sizeof(args);
  args.num_tensors = tensors.views.size();
  args.tensors = tensors.views.data();
  args.num_scalars = scalars.size();
  args.scalars = scalars.data();
  args.device = gpu.getDevice();
  args.stream = gpu.getStream();
  if (!gpu.chooseVariant(bundle, args, variant)) {
    return failGpu();
  }
  if (needsStatistics(plan, problem)) {
    gradients = makeStatistics(plan, variant, problem, tensors.tensors);
    if (!tensors.upload(error)) {
      return false;
    }
  }
  return workspace.allocate(bundle, args, size_t(plan.variants[variant].zeroed),
                            error);
}

bool Session::restart(attn_bundle *other) {
  bundle = other;
  return tensors.upload(error) && workspace.reset(error);
}

bool Session::launch() { return gpu.launch(bundle, args) || failGpu(); }

bool Session::finish() {
  if (gpu.finish(timeout)) {
    return true;
  }
  gpuLost = true;
  return failGpu();
}

bool Session::launchAndDownload() {
  std::vector<HostTensor> &hosts = tensors.tensors;
  if (!tensors.poisonOutputs(error) || !launch() || !finish()) {
    return false;
  }
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].isOutput && !tensors.download(i, hosts[i].bytes, error)) {
      return false;
    }
  }
  return true;
}

bool Session::repeat(int64_t count) {
  std::vector<HostTensor> &hosts = tensors.tensors;
  std::vector<unsigned char> now;
  for (int64_t n = 0; n < count; ++n) {
    if (!tensors.poisonOutputs(error) || !launch() || !finish()) {
      return false;
    }
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (!hosts[i].isOutput) {
        continue;
      }
      if (!tensors.download(i, now, error)) {
        return false;
      }
      if (now != hosts[i].bytes) {
        return fail("repeat: '" + hosts[i].name + "' of launch " +
                    std::to_string(n + 1) + " differs from the first");
      }
    }
  }
  return true;
}

CheckResult Session::check() const {
  if (plan.problem.kind == runtime::Kind::Delta) {
    return checkDelta(plan, variant, problem, tensors.tensors);
  }
  if (makesGradients(plan)) {
    return checkGradients(plan, gradients, tensors.tensors);
  }
  return checkOutputs(referenceInputs(),
                      *findTensor(tensors.tensors, runtime::Role::Output),
                      findTensor(tensors.tensors, runtime::Role::Lse));
}

/// Appends the times of the second half of `count` launches: during the first
/// half the clock settles for this kernel.
bool Session::timeSlice(size_t count, std::vector<double> &times) {
  for (size_t i = 0; i < count; ++i) {
    if (!gpu.record(2 * i)) {
      return failGpu();
    }
    if (!launch()) {
      return false;
    }
    if (!gpu.record(2 * i + 1)) {
      return failGpu();
    }
  }
  if (!finish()) {
    return false;
  }
  for (size_t i = count / 2; i < count; ++i) {
    double time = 0;
    if (!gpu.elapsed(2 * i, 2 * i + 1, time)) {
      return failGpu();
    }
    times.push_back(time);
  }
  return true;
}

bool Session::measure(int64_t rounds, double &milliseconds) {
  constexpr double sliceMilliseconds = 80;
  constexpr size_t mostLaunches = 4000;
  if (!gpu.reserveEvents(2 * mostLaunches)) {
    return failGpu();
  }
  std::vector<double> times;
  if (!timeSlice(4, times)) {
    return false;
  }
  double one = std::max(times.back(), 1e-3);
  size_t count =
      size_t(std::clamp(sliceMilliseconds / one, 4.0, double(mostLaunches)));
  times.clear();
  for (int64_t round = 0; round < rounds; ++round) {
    if (!timeSlice(count, times)) {
      return false;
    }
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  milliseconds = times[times.size() / 2];
  return true;
}
