// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle in memory, its parsed plan, and its kernels on each device.

#ifndef ATTN_RUNTIME_LIB_LOADED_BUNDLE_H
#define ATTN_RUNTIME_LIB_LOADED_BUNDLE_H

#include "device.h"

#include <map>
#include <mutex>

namespace attn::runtime {

class LoadedBundle {
public:
  static Status create(Bundle bundle, std::unique_ptr<LoadedBundle> &out);

  const Bundle &getContent() const { return bundle; }
  const std::string &getPlanText() const { return bundle.plan; }
  bool needsMultiprocessorCount() const { return plan.smCountSymbol >= 0; }

  /// Loads the kernels onto `device` if they are not there.
  Status prepare(Device &device);

  // `multiprocessors` may be anything unless needsMultiprocessorCount().

  /// The index of the variant that a launch runs.
  Status variantIndex(const attn_launch_args &args, int64_t multiprocessors,
                      size_t &index) const;
  Status workspaceSize(const attn_launch_args &args, int64_t multiprocessors,
                       size_t &bytes) const;

  Status launch(Device &device, const attn_launch_args &args);

private:
  /// Loads them, too, unless they are to be launched on a captured stream.
  Status findKernels(Device &device, const attn_launch_args *args,
                     LoadedKernels *&kernels);
  Status bind(const attn_launch_args &args, int64_t multiprocessors,
              BoundArguments &bound, const PlanVariant *&variant) const;

  Bundle bundle;
  LaunchPlan plan;
  std::mutex mutex;
  std::map<Device *, std::unique_ptr<LoadedKernels>> kernelsOf;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LOADED_BUNDLE_H
