// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/KernelGroup.h"
#include "LaunchSizes.h"
#include "attn/dialect/LaunchName.h"
#include "attn/passes/schedule/SizeCover.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static SmallVector<KernelGroup> listGroups(ModuleOp module) {
  SmallVector<KernelGroup> groups;
  for (auto kernel : module.getOps<ws::KernelOp>()) {
    auto known = llvm::find_if(groups, [&](const KernelGroup &group) {
      return group.name == ws::launchNameOf(kernel);
    });
    if (known == groups.end()) {
      groups.push_back({ws::launchNameOf(kernel), {kernel}});
    } else {
      known->kernels.push_back(kernel);
    }
  }
  return groups;
}

static StaticSizes staticSizes(ws::KernelOp kernel) {
  std::optional<LaunchSizes> sizes = LaunchSizes::of(kernel);
  if (!sizes) {
    return {};
  }
  auto number = [](Attribute size) {
    auto value = dyn_cast<IntegerAttr>(size);
    return value ? std::optional(value.getInt()) : std::nullopt;
  };
  return {number(sizes->batches), number(sizes->queryHeads),
          number(sizes->queries), number(sizes->keys)};
}

static InFlightDiagnostic error(ws::KernelOp kernel) {
  return kernel.emitOpError("attn-lower-to-nvvm: ");
}

static LogicalResult verifyAlike(ws::KernelOp kernel, ws::KernelOp first) {
  if (!kernel.getVariant() || !first.getVariant()) {
    return error(kernel) << "expected '@" << kernel.getSymName() << "' and '@"
                         << first.getSymName()
                         << "', which share a launch plan, to have a 'variant'";
  }
  if (kernel.getArgs() == first.getArgs() &&
      llvm::equal(kernel.getBody().getArgumentTypes(),
                  first.getBody().getArgumentTypes()) &&
      kernel.getProblem() == first.getProblem() &&
      kernel.getMachine() == first.getMachine()) {
    return success();
  }
  return error(kernel) << "expected '@" << kernel.getSymName()
                       << "' to have the arguments, problem and machine of '@"
                       << first.getSymName()
                       << "', with which it shares a launch plan";
}

static LogicalResult verifyGroup(const KernelGroup &group) {
  ws::KernelOp first = group.kernels.front(), last = group.kernels.back();
  if (!first.getVariant() && first == last) {
    return success();
  }
  SizeCover cover(staticSizes(first));
  std::string before;
  for (ws::KernelOp kernel : group.kernels) {
    if (failed(verifyAlike(kernel, first))) {
      return failure();
    }
    if (!cover.take(kernel.getVariant()->getWhen())) {
      return error(kernel) << "expected some launch to be left for '@"
                           << kernel.getSymName() << "', got none after "
                           << before;
    }
    before +=
        (before.empty() ? "'@" : ", '@") + kernel.getSymName().str() + "'";
  }
  if (!cover.isEmpty()) {
    return error(last) << "expected " << before
                       << " to take all launches, got condition "
                       << last.getVariant()->getWhen() << " of the last, '@"
                       << last.getSymName() << "'";
  }
  return success();
}

/// Takes the groups of a sequence out of `groups`.
static FailureOr<KernelCall> takeCall(launch::SequenceOp sequence,
                                      SmallVectorImpl<KernelGroup> &groups) {
  KernelCall call{sequence.getName(), {}, sequence};
  for (StringRef name : sequence.getLaunches().getAsValueRange<StringAttr>()) {
    auto *group = llvm::find_if(
        groups, [&](const KernelGroup &each) { return each.name == name; });
    if (group == groups.end()) {
      return sequence.emitOpError("attn-lower-to-nvvm: expected the name of a "
                                  "kernel, or of a group of variants, that no "
                                  "other sequence has, got '")
             << name << "'";
    }
    call.launches.push_back(std::move(*group));
    groups.erase(group);
  }
  ws::KernelOp first = call.launches.front().kernels.front();
  for (const KernelGroup &group : call.launches) {
    ws::KernelOp kernel = group.kernels.front();
    if (kernel.getMachine() != first.getMachine()) {
      return error(kernel) << "expected '@" << kernel.getSymName()
                           << "' to be for machine '" << first.getMachine()
                           << "' like '@" << first.getSymName()
                           << "', which the same call launches, got '"
                           << kernel.getMachine() << "'";
    }
  }
  return call;
}

FailureOr<SmallVector<KernelCall>> codegen::groupKernels(ModuleOp module) {
  SmallVector<KernelGroup> groups = listGroups(module);
  for (const KernelGroup &group : groups) {
    if (failed(verifyGroup(group))) {
      return failure();
    }
  }
  SmallVector<KernelCall> calls;
  for (auto sequence : module.getOps<launch::SequenceOp>()) {
    FailureOr<KernelCall> call = takeCall(sequence, groups);
    if (failed(call)) {
      return failure();
    }
    calls.push_back(std::move(*call));
  }
  for (KernelGroup &group : groups) {
    calls.push_back({group.name, {std::move(group)}, {}});
  }
  return calls;
}
