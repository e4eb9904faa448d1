// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "loaded_bundle.h"

using namespace attn::runtime;

static constexpr uintptr_t kWorkspaceAlignment = 256;

Status LoadedBundle::create(Bundle bundle, std::unique_ptr<LoadedBundle> &out) {
  auto loaded = std::make_unique<LoadedBundle>();
  if (Status status = parseLaunchPlan(bundle.plan, loaded->plan)) {
    return status;
  }
  loaded->bundle = std::move(bundle);
  out = std::move(loaded);
  return {};
}

Status LoadedBundle::findKernels(Device &device, const attn_launch_args *args,
                                 LoadedKernels *&kernels) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<LoadedKernels> &entry = kernelsOf[&device];
  if (!entry) {
    if (args && device.isCapturing(args->stream)) {
      return invalidArgument("expected attn_bundle_prepare, or a launch, before "
                             "the first launch under CUDA graph capture: "
                             "kernels cannot be loaded there");
    }
    if (Status status = device.load(bundle, plan, entry)) {
      return status;
    }
  }
  kernels = entry.get();
  return {};
}

Status LoadedBundle::prepare(Device &device) {
  LoadedKernels *kernels = nullptr;
  return findKernels(device, nullptr, kernels);
}

Status LoadedBundle::bind(const attn_launch_args &args, int64_t multiprocessors,
                          BoundArguments &bound,
                          const PlanVariant *&variant) const {
  CallValues values;
  if (Status status = collectArguments(plan, args, values)) {
    return status;
  }
  if (Status status = bindArguments(plan, values, multiprocessors, bound)) {
    return status;
  }
  return chooseVariant(plan, bound, variant);
}

Status LoadedBundle::variantIndex(const attn_launch_args &args,
                                  int64_t multiprocessors,
                                  size_t &index) const {
  BoundArguments bound(plan);
  const PlanVariant *variant = nullptr;
  if (Status status = bind(args, multiprocessors, bound, variant)) {
    return status;
  }
  index = size_t(variant - plan.variants.data());
  return {};
}

Status LoadedBundle::workspaceSize(const attn_launch_args &args,
                                   int64_t multiprocessors,
                                   size_t &bytes) const {
  BoundArguments bound(plan);
  const PlanVariant *variant = nullptr;
  if (Status status = bind(args, multiprocessors, bound, variant)) {
    return status;
  }
  return evaluateWorkspace(plan, *variant, bound, bytes);
}

static Status checkWorkspace(const attn_launch_args &args, size_t bytes) {
  if (bytes == 0) {
    return {};
  }
  if (args.workspace_size < bytes) {
    return invalidArgument("expected the workspace to be at least " +
                           std::to_string(bytes) + " bytes, got " +
                           std::to_string(args.workspace_size));
  }
  auto address = reinterpret_cast<uintptr_t>(args.workspace);
  if (address == 0 || address % kWorkspaceAlignment != 0) {
    return invalidArgument("expected the workspace's address to be a multiple "
                           "of 256 and not null, got " +
                           std::to_string(address));
  }
  return {};
}

Status LoadedBundle::launch(Device &device, const attn_launch_args &args) {
  LoadedKernels *kernels = nullptr;
  if (Status status = findKernels(device, &args, kernels)) {
    return status;
  }
  BoundArguments bound(plan);
  const PlanVariant *variant = nullptr;
  if (Status status =
          bind(args, device.getMultiprocessorCount(), bound, variant)) {
    return status;
  }
  size_t bytes = 0;
  if (Status status = evaluateWorkspace(plan, *variant, bound, bytes)) {
    return status;
  }
  if (Status status = checkWorkspace(args, bytes)) {
    return status;
  }
  for (const PlanLaunch &launch : variant->launches) {
    PreparedLaunch prepared;
    bool skip = false;
    if (Status status = prepareLaunch(plan, launch, bound, args.workspace,
                                      bytes, skip, prepared)) {
      return status;
    }
    if (skip) {
      continue;
    }
    if (Status status = kernels->launch(prepared, args.stream)) {
      return status;
    }
  }
  return {};
}
