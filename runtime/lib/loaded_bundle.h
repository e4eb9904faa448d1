// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle in memory, its parsed plan, and its kernels on each device.

#ifndef ATTN_RUNTIME_LIB_LOADED_BUNDLE_H
#define ATTN_RUNTIME_LIB_LOADED_BUNDLE_H

#include "launch_memo.h"

#include <map>
#include <mutex>

namespace attn::runtime {

class LoadedBundle {
public:
  static Status create(Bundle bundle, std::unique_ptr<LoadedBundle> &out);

  const Bundle &getContent() const { return bundle; }
  const std::string &getPlanText() const { return bundle.plan; }
  const LaunchPlan &getPlan() const { return plan; }
  bool needsMultiprocessorCount() const { return plan.smCountSymbol >= 0; }

  /// Loads the kernels onto `device` if they are not loaded yet.
  Status prepare(Device &device);

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
  /// Also loads the kernels, unless they would be launched on a captured
  /// stream.
  Status findKernels(Device &device, const attn_launch_args *args,
                     LoadedKernels *&kernels);
  /// A call whose arguments passed their rules, and the variant that it runs.
  struct BoundCall {
    explicit BoundCall(const LaunchPlan &plan) : bound(plan) {}

    CallValues values;
    BoundArguments bound;
    const PlanVariant *variant = nullptr;
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
  Bundle bundle;
  LaunchPlan plan;
  std::mutex mutex;
  std::map<Device *, std::unique_ptr<LoadedKernels>> kernelsOf;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LOADED_BUNDLE_H
