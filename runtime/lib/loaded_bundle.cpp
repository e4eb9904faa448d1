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
  loaded->content = std::make_shared<Bundle>(std::move(bundle));
  loaded->kernels =
      std::make_unique<BundleKernels>(loaded->plan, loaded->content);
  out = std::move(loaded);
  return {};
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
  call.variantIndex = size_t(call.variant - plan.variants.data());
  return bindValues(plan, call.variant->values, call.bound);
}

Status LoadedBundle::variantIndex(const attn_launch_args &args,
                                  int64_t multiprocessors,
                                  size_t &index) const {
  BoundCall call(plan);
  if (Status status = bind(args, multiprocessors, call)) {
    return status;
  }
  index = call.variantIndex;
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
/// except for addresses. It does not if a tensor or temporary without elements
/// has a substitute address.
static bool isRepeatable(const LaunchPlan &plan, const BoundArguments &bound,
                         const WorkspaceNeed &need) {
  if (!need.temporaries.empty() && need.bytes == 0) {
    return false;
  }
  for (size_t i = 0; i < plan.args.size(); ++i) {
    if (plan.args[i].isTensor() && !bound.tensors[i].data) {
      return false;
    }
  }
  return true;
}

/// Evaluates the call's launches, except those without CTAs.
static Status prepareLaunches(const LaunchPlan &plan,
                              const PlanVariant &variant,
                              const BoundArguments &bound,
                              const WorkspaceNeed &need, void *workspace,
                              std::vector<PreparedLaunch> &out) {
  for (const PlanLaunch &launch : variant.launches) {
    PreparedLaunch prepared;
    bool skip = false;
    if (Status status = prepareLaunch(plan, launch, bound, workspace, need,
                                      skip, prepared)) {
      return status;
    }
    if (!skip) {
      out.push_back(std::move(prepared));
    }
  }
  return {};
}

/// Encodes the launches, or checks them on a device that cannot. A call with
/// one that fails here launches nothing.
static Status encodeLaunches(LoadedKernels &kernels,
                             const std::vector<PreparedLaunch> &launches,
                             EncodedLaunches &out) {
  for (const PreparedLaunch &launch : launches) {
    if (Status status = kernels.encode(launch, out.emplace_back())) {
      return status;
    }
    if (!out.back()) {
      if (Status status = kernels.check(launch)) {
        return status;
      }
    }
  }
  return {};
}

/// Enqueues the launches in order. `mayOverlap`: the first one may begin before
/// the end of the previous launch in the stream.
static Status submitLaunches(LoadedKernels &kernels,
                             const std::vector<PreparedLaunch> &launches,
                             const EncodedLaunches &encoded, void *stream,
                             bool mayOverlap) {
  for (size_t i = 0; i < launches.size(); ++i) {
    Status status = encoded[i]
                        ? encoded[i]->submit(stream, mayOverlap)
                        : kernels.launch(launches[i], stream, mayOverlap);
    if (status) {
      return status;
    }
    mayOverlap = true;
  }
  return {};
}

void LoadedBundle::remember(const LaunchKey &key, const BoundCall &call,
                            const WorkspaceNeed &need,
                            EncodedLaunches encoded) const {
  auto remembered = std::make_unique<RememberedCall>(
      plan, call.bound, call.values.tensorArgs, need);
  for (std::unique_ptr<EncodedLaunch> &each : encoded) {
    if (!each) {
      return;
    }
    remembered->add(std::move(each));
  }
  rememberCall(key, std::move(remembered));
}

Status LoadedBundle::launchInFull(Device &device, const attn_launch_args &args,
                                  const LaunchKey *key) {
  BoundCall call(plan);
  if (Status status = bind(args, device.getMultiprocessorCount(), call)) {
    return status;
  }
  LoadedKernels *loaded = nullptr;
  if (Status status = kernels->find(device, call.variantIndex, &args, loaded)) {
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
  if (Status status = prepareLaunches(plan, *call.variant, call.bound, need,
                                      args.workspace, launches)) {
    return status;
  }
  EncodedLaunches encoded;
  if (Status status = encodeLaunches(*loaded, launches, encoded)) {
    return status;
  }
  bool cleared = false;
  if (!launches.empty()) {
    if (Status status = clearWorkspace(device, args, need, cleared)) {
      return status;
    }
  }
  if (Status status =
          submitLaunches(*loaded, launches, encoded, args.stream, !cleared)) {
    return status;
  }
  if (key && !launches.empty() && isRepeatable(plan, call.bound, need)) {
    remember(*key, call, need, std::move(encoded));
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
