// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "loaded_bundle.h"

#include <atomic>

using namespace attn::runtime;

Status LoadedBundle::create(Bundle bundle, std::unique_ptr<LoadedBundle> &out) {
  static std::atomic<uint64_t> count;
  auto loaded = std::make_unique<LoadedBundle>();
  loaded->number = ++count;
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
      return invalidArgument(
          "expected attn_bundle_prepare, or a launch, before "
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
                          BoundCall &call) const {
  if (Status status = collectArguments(plan, args, call.values)) {
    return status;
  }
  if (Status status =
          bindArguments(plan, call.values, multiprocessors, call.bound)) {
    return status;
  }
  if (Status status = chooseVariant(plan, call.bound, call.variant)) {
    return status;
  }
  return bindValues(plan, *call.variant, call.bound);
}

Status LoadedBundle::variantIndex(const attn_launch_args &args,
                                  int64_t multiprocessors,
                                  size_t &index) const {
  BoundCall call(plan);
  if (Status status = bind(args, multiprocessors, call)) {
    return status;
  }
  index = size_t(call.variant - plan.variants.data());
  return {};
}

Status LoadedBundle::workspaceSize(const attn_launch_args &args,
                                   int64_t multiprocessors,
                                   size_t &bytes) const {
  BoundCall call(plan);
  if (Status status = bind(args, multiprocessors, call)) {
    return status;
  }
  WorkspaceNeed need;
  if (Status status =
          evaluateWorkspace(plan, *call.variant, call.bound, need)) {
    return status;
  }
  bytes = need.bytes;
  return {};
}

/// Whether a call with other memory of the same shapes has the same parameters
/// except for addresses. It does not if a tensor without elements has a
/// substitute address.
static bool isRepeatable(const LaunchPlan &plan, const BoundArguments &bound) {
  for (size_t i = 0; i < plan.args.size(); ++i) {
    if (plan.args[i].isTensor() && !bound.tensors[i].data) {
      return false;
    }
  }
  return true;
}

Status LoadedBundle::launchKernel(LoadedKernels &kernels,
                                  const PreparedLaunch &prepared, void *stream,
                                  bool mayOverlap,
                                  std::unique_ptr<RememberedCall> &call) {
  std::unique_ptr<EncodedLaunch> encoded;
  if (call) {
    if (Status status = kernels.encode(prepared, encoded)) {
      return status;
    }
  }
  if (!encoded) {
    call = nullptr;
    return kernels.launch(prepared, stream, mayOverlap);
  }
  Status status = encoded->submit(stream, mayOverlap);
  call->add(std::move(encoded));
  return status;
}

Status LoadedBundle::prepare(const BoundCall &call,
                             const attn_launch_args &args,
                             size_t workspaceBytes,
                             std::vector<PreparedLaunch> &out) const {
  for (const PlanLaunch &launch : call.variant->launches) {
    PreparedLaunch prepared;
    bool skip = false;
    if (Status status = prepareLaunch(plan, launch, call.bound, args.workspace,
                                      workspaceBytes, skip, prepared)) {
      return status;
    }
    if (!skip) {
      out.push_back(std::move(prepared));
    }
  }
  return {};
}

Status LoadedBundle::launchInFull(Device &device, const attn_launch_args &args,
                                  const LaunchKey *key) {
  LoadedKernels *kernels = nullptr;
  if (Status status = findKernels(device, &args, kernels)) {
    return status;
  }
  BoundCall call(plan);
  if (Status status = bind(args, device.getMultiprocessorCount(), call)) {
    return status;
  }
  WorkspaceNeed need;
  if (Status status =
          evaluateWorkspace(plan, *call.variant, call.bound, need)) {
    return status;
  }
  if (Status status = checkWorkspace(args, need.bytes)) {
    return status;
  }
  std::vector<PreparedLaunch> launches;
  if (Status status = prepare(call, args, need.bytes, launches)) {
    return status;
  }
  bool cleared = false;
  if (!launches.empty()) {
    if (Status status = clearWorkspace(device, args, need, cleared)) {
      return status;
    }
  }
  std::unique_ptr<RememberedCall> remembered;
  if (key && !launches.empty() && isRepeatable(plan, call.bound)) {
    remembered = std::make_unique<RememberedCall>(plan, call.bound,
                                                  call.values.tensorArgs, need);
  }
  for (const PreparedLaunch &prepared : launches) {
    if (Status status = launchKernel(*kernels, prepared, args.stream, !cleared,
                                     remembered)) {
      return status;
    }
    cleared = false;
  }
  if (remembered) {
    rememberCall(*key, std::move(remembered));
  }
  return {};
}

Status LoadedBundle::launch(Device &device, const attn_launch_args &args) {
  LaunchKey key;
  bool hasKey = key.read(number, device, args);
  RememberedCall *call = hasKey ? findRememberedCall(key) : nullptr;
  if (call && call->accepts(args)) {
    return call->launch(device, args);
  }
  return launchInFull(device, args, hasKey ? &key : nullptr);
}
