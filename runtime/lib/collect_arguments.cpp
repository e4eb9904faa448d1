// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the C struct's arrays, positional or by name, to plan order.

#include "arguments.h"

using namespace attn::runtime;

/// Says which plan argument entry `index` of an array is: by name, or the
/// index-th tensor (or scalar) of the plan. Null names need `count` to match.
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
                             what + " arguments, got " + std::to_string(count));
    }
    out = wanted;
    return {};
  }
  std::vector<char> given(plan.args.size());
  for (size_t i = 0; i < count; ++i) {
    std::string name = names[i] ? names[i] : "";
    int arg = plan.findArg(name);
    if (arg < 0 || plan.args[arg].isTensor() != tensors) {
      return invalidArgument("unknown " + what + " argument " + quote(name));
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
      return invalidArgument("missing " + what + " argument " +
                             quote(plan.args[arg].name));
    }
  }
  return {};
}

Status attn::runtime::collectArguments(const LaunchPlan &plan,
                                       const attn_launch_args &args,
                                       CallValues &out) {
  if ((args.num_tensors && !args.tensors) ||
      (args.num_scalars && !args.scalars)) {
    return invalidArgument("expected arrays of tensors and scalars, got null");
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
