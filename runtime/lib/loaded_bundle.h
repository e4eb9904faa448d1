// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle in memory: its parsed plan, and launches of its kernels.

#ifndef ATTN_RUNTIME_LIB_LOADED_BUNDLE_H
#define ATTN_RUNTIME_LIB_LOADED_BUNDLE_H

#include "bundle_kernels.h"
#include "launch_memo.h"

namespace attn::runtime {

class LoadedBundle {
public:
  static Status create(Bundle bundle, std::unique_ptr<LoadedBundle> &out);

  /// The content that the bundle was made from, which may be a plan alone.
  const std::shared_ptr<const Bundle> &getContent() const { return content; }
  const std::string &getPlanText() const { return content->plan; }
  const LaunchPlan &getPlan() const { return plan; }
  bool needsMultiprocessorCount() const { return plan.smCountSymbol >= 0; }

  /// Its kernels come from `source` from now on. Must be called before any
  /// other thread knows the bundle.
  void setSource(std::unique_ptr<VariantSource> source) {
    kernels->setSource(std::move(source));
  }
  /// Sets `all` to the bundle with the kernels of all variants.
  Status getAll(std::shared_ptr<const Bundle> &all) {
    return kernels->getAll(all);
  }

  /// Loads the kernels onto `device` if they are not loaded yet.
  Status prepare(Device &device) { return kernels->prepare(device); }

  // `multiprocessors` may be anything unless needsMultiprocessorCount().

  /// The index of the variant that a launch runs.
  Status variantIndex(const attn_launch_args &args, int64_t multiprocessors,
                      size_t &index) const;
  Status workspaceSize(const attn_launch_args &args, int64_t multiprocessors,
                       size_t &bytes) const;

  /// Repeats this thread's earlier call that differs only in memory, if there
  /// is one.
  Status launch(Device &device, const attn_launch_args &args);

private:
  /// A call whose arguments passed their rules, and the variant that it runs.
  struct BoundCall {
    explicit BoundCall(const LaunchPlan &plan) : bound(plan) {}

    CallValues values;
    BoundArguments bound;
    const PlanVariant *variant = nullptr;
    size_t variantIndex = 0;
  };
  Status bind(const attn_launch_args &args, int64_t multiprocessors,
              BoundCall &call) const;
  Status launchInFull(Device &device, const attn_launch_args &args,
                      const LaunchKey *key);
  /// Remembers the call, if the device can encode launches.
  void remember(const LaunchKey &key, const BoundCall &call,
                const WorkspaceNeed &need, EncodedLaunches encoded) const;

  /// Unique among all bundles of the process.
  uint64_t number = 0;
  std::shared_ptr<const Bundle> content;
  LaunchPlan plan;
  std::unique_ptr<BundleKernels> kernels;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LOADED_BUNDLE_H
