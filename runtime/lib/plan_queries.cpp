// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about a launch plan that has been read.

#include "launch_plan.h"

#include <algorithm>

using namespace attn::runtime;

int LaunchPlan::findArg(const std::string &argName) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == argName) {
      return int(i);
    }
  }
  return -1;
}

DataType LaunchPlan::typeOf(int tensor) const {
  size_t index = size_t(tensor);
  return index < args.size() ? args[index].dtype
                             : temporaries[index - args.size()].dtype;
}

int LaunchPlan::findArg(Role role) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].role == role) {
      return int(i);
    }
  }
  return -1;
}

static bool uses(const std::vector<PlanValue> &values, int symbol) {
  return std::any_of(values.begin(), values.end(), [&](const PlanValue &value) {
    return value.expr.uses(symbol);
  });
}

static bool uses(const PlanParam &param, int symbol) {
  return param.expr.uses(symbol) ||
         std::any_of(param.dims.begin(), param.dims.end(),
                     [&](const TensorMapDim &dim) {
                       return dim.size.uses(symbol) || dim.stride.uses(symbol);
                     });
}

static bool uses(const PlanLaunch &launch, int symbol) {
  return std::any_of(launch.grid.begin(), launch.grid.end(),
                     [&](const Expr &extent) { return extent.uses(symbol); }) ||
         std::any_of(
             launch.params.begin(), launch.params.end(),
             [&](const PlanParam &param) { return ::uses(param, symbol); });
}

static bool uses(const PlanVariant &variant, int symbol) {
  return variant.when.uses(symbol) || variant.workspace.uses(symbol) ||
         ::uses(variant.values, symbol) ||
         std::any_of(
             variant.launches.begin(), variant.launches.end(),
             [&](const PlanLaunch &launch) { return ::uses(launch, symbol); });
}

static bool uses(const PlanTemporary &temporary, int symbol) {
  return std::any_of(temporary.dims.begin(), temporary.dims.end(),
                     [&](const Expr &extent) { return extent.uses(symbol); });
}

bool LaunchPlan::uses(int symbol) const {
  auto isUsed = [&](const auto &part) { return ::uses(part, symbol); };
  return std::any_of(
             checks.begin(), checks.end(),
             [&](const PlanCheck &check) { return check.expr.uses(symbol); }) ||
         ::uses(values, symbol) ||
         std::any_of(temporaries.begin(), temporaries.end(), isUsed) ||
         std::any_of(variants.begin(), variants.end(), isUsed);
}
