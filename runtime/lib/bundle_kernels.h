// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a bundle: its code, which a source may make variant by
// variant, and what is loaded on each device.

#ifndef ATTN_RUNTIME_LIB_BUNDLE_KERNELS_H
#define ATTN_RUNTIME_LIB_BUNDLE_KERNELS_H

#include "device.h"
#include "variant_source.h"

#include <map>
#include <mutex>

namespace attn::runtime {

class BundleKernels {
public:
  /// `plan` is that of `content`, and outlives this.
  BundleKernels(const LaunchPlan &plan, std::shared_ptr<const Bundle> content);

  /// Without code of its own the bundle has its variants from `source`. Must be
  /// called before any of the following.
  void setSource(std::unique_ptr<VariantSource> source);

  /// Sets `kernels` to those of variant `index` on `device`, which are loaded
  /// first if `args` is null or its stream is not captured.
  Status find(Device &device, size_t index, const attn_launch_args *args,
              LoadedKernels *&kernels);

  /// Loads the kernels of all variants onto `device`.
  Status prepare(Device &device);

  /// Sets `all` to the bundle with the kernels of all variants.
  Status getAll(std::shared_ptr<const Bundle> &all);

private:
  /// The variants whose code is in one bundle.
  struct Part {
    std::vector<const PlanLaunch *> launches;
    std::shared_ptr<const Bundle> code; // null: not made yet
    std::map<Device *, std::unique_ptr<LoadedKernels>> kernelsOf;
  };

  Part &partOf(size_t index) { return parts[source ? index : 0]; }
  LoadedKernels *findLoaded(Part &part, Device &device);
  Status getCode(size_t index, std::shared_ptr<const Bundle> &code);

  const LaunchPlan &plan;
  std::shared_ptr<const Bundle> content;
  std::unique_ptr<VariantSource> source; // null: `content` has all code
  /// Held while kernels are loaded, but not while they are compiled.
  std::mutex mutex;
  std::vector<Part> parts; // one, or one a variant
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_BUNDLE_KERNELS_H
