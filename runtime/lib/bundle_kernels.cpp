// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bundle_kernels.h"

using namespace attn::runtime;

static void addLaunches(const PlanVariant &variant,
                        std::vector<const PlanLaunch *> &launches) {
  for (const PlanLaunch &launch : variant.launches) {
    launches.push_back(&launch);
  }
}

BundleKernels::BundleKernels(const LaunchPlan &plan,
                             std::shared_ptr<const Bundle> content)
    : plan(plan), content(std::move(content)), parts(1) {
  parts[0].code = this->content;
  for (const PlanVariant &variant : plan.variants) {
    addLaunches(variant, parts[0].launches);
  }
}

void BundleKernels::setSource(std::unique_ptr<VariantSource> given) {
  source = std::move(given);
  parts = std::vector<Part>(plan.variants.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    addLaunches(plan.variants[i], parts[i].launches);
  }
}

/// The caller holds the mutex.
LoadedKernels *BundleKernels::findLoaded(Part &part, Device &device) {
  auto found = part.kernelsOf.find(&device);
  return found == part.kernelsOf.end() ? nullptr : found->second.get();
}

/// Sets `code` to a bundle with the kernels of variant `index`.
Status BundleKernels::getCode(size_t index,
                              std::shared_ptr<const Bundle> &code) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if ((code = partOf(index).code)) {
      return {};
    }
  }
  if (Status status = source->makeVariant(index, code)) {
    return status;
  }
  if (code->plan != content->plan) {
    return {ATTN_INVALID_BUNDLE,
            "variant " + std::to_string(index) +
                ": expected its code to have the plan of the bundle, got "
                "another plan"};
  }
  std::lock_guard<std::mutex> lock(mutex);
  partOf(index).code = code;
  return {};
}

Status BundleKernels::find(Device &device, size_t index,
                           const attn_launch_args *args,
                           LoadedKernels *&kernels) {
  Part &part = partOf(index);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if ((kernels = findLoaded(part, device))) {
      return {};
    }
  }
  if (args && device.isCapturing(args->stream)) {
    return invalidArgument(
        "expected attn_bundle_prepare, or a launch" +
        (source ? " of variant " + std::to_string(index) : std::string()) +
        ", before the first launch under CUDA graph capture: kernels cannot be "
        "loaded there");
  }
  std::shared_ptr<const Bundle> code;
  if (Status status = getCode(index, code)) {
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (!findLoaded(part, device)) {
    std::unique_ptr<LoadedKernels> loaded;
    if (Status status = device.load(*code, plan, part.launches, loaded)) {
      return status;
    }
    part.kernelsOf[&device] = std::move(loaded);
  }
  kernels = findLoaded(part, device);
  return {};
}

Status BundleKernels::prepare(Device &device) {
  LoadedKernels *kernels = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (Status status = find(device, i, nullptr, kernels)) {
      return status;
    }
  }
  return {};
}

Status BundleKernels::getAll(std::shared_ptr<const Bundle> &all) {
  all = content;
  return source ? source->makeAll(all) : Status();
}
