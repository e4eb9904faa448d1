// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the arrays of the C struct, positional or by name, to plan order.

#include "arguments.h"

using namespace attn::runtime;

/// "q, k, v, o, lse".
static std::string listNames(const LaunchPlan &plan,
                             const std::vector<int> &args) {
  std::string names;
  for (int arg : args) {
    names += (names.empty() ? "" : ", ") + plan.args[arg].name;
  }
  return names;
}

/// Maps each entry of an array to a plan argument: by name, or the index-th
/// tensor (or scalar) of the plan. Without names, `count` must match.
static Status mapEntries(const LaunchPlan &plan, bool tensors, size_t count,
                         const char *const *names, std::vector<int> &out) {
  std::vector<int> wanted;
  for (size_t i = 0; i < plan.args.size(); ++i) {
    if (plan.args[i].isTensor() == tensors) {
      wanted.push_back(int(i));
    }
  }
  std::string what = tensors ? "tensor" : "scalar";
  if (!names) {
    if (count != wanted.size()) {
      return invalidArgument("expected " + std::to_string(wanted.size()) + " " +
                             what + " arguments (" + listNames(plan, wanted) +
                             "), got " + std::to_string(count));
    }
    out = wanted;
    return {};
  }
  std::vector<char> given(plan.args.size());
  for (size_t i = 0; i < count; ++i) {
    std::string name = names[i] ? names[i] : "";
    int arg = plan.findArg(name);
    if (arg < 0 || plan.args[arg].isTensor() != tensors) {
      return invalidArgument("expected the name of a " + what + " argument (" +
                             listNames(plan, wanted) + "), got " + quote(name));
    }
    if (given[arg]) {
      return invalidArgument("expected argument " + quote(name) +
                             " once, got it twice");
    }
    given[arg] = true;
    out.push_back(arg);
  }
  for (int arg : wanted) {
    if (!given[arg]) {
      return invalidArgument("expected " + what + " argument " +
                             quote(plan.args[arg].name) +
                             " to be given, got none of that name");
    }
  }
  return {};
}

Status attn::runtime::collectArguments(const LaunchPlan &plan,
                                       const attn_launch_args &args,
                                       CallValues &out) {
  if (args.num_tensors && !args.tensors) {
    return invalidArgument("expected 'tensors' to be given since num_tensors "
                           "is " +
                           std::to_string(args.num_tensors) + ", got null");
  }
  if (args.num_scalars && !args.scalars) {
    return invalidArgument("expected 'scalars' to be given since num_scalars "
                           "is " +
                           std::to_string(args.num_scalars) + ", got null");
  }
  std::vector<int> order;
  if (Status status =
          mapEntries(plan, true, args.num_tensors, args.tensor_names, order)) {
    return status;
  }
  out.tensors.assign(plan.args.size(), nullptr);
  for (size_t i = 0; i < order.size(); ++i) {
    out.tensors[order[i]] = args.tensors[i];
  }
  out.tensorArgs = std::move(order);
  order.clear();
  if (Status status =
          mapEntries(plan, false, args.num_scalars, args.scalar_names, order)) {
    return status;
  }
  out.scalars.assign(plan.args.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    out.scalars[order[i]] = args.scalars[i];
  }
  out.device = args.device;
  return {};
}
