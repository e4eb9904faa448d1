// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the runtime and a device that executes kernels.

#ifndef ATTN_RUNTIME_LIB_DEVICE_H
#define ATTN_RUNTIME_LIB_DEVICE_H

#include "attn/runtime/bundle.h"
#include "prepared_launch.h"

#include <memory>

namespace attn::runtime {

/// A launch that can be submitted repeatedly, on different memory each time.
/// Only one thread at a time may use it.
class EncodedLaunch {
public:
  virtual ~EncodedLaunch() = default;

  /// `addresses` has an entry for every argument and then for every temporary
  /// of the plan; only those of tensors are used.
  virtual Status setMemory(void *const *addresses, void *workspace) = 0;

  /// Enqueues the launch on `stream` and returns without waiting for it.
  /// `mayOverlap`: a kernel that waits for the previous launch itself may begin
  /// before its end.
  virtual Status submit(void *stream, bool mayOverlap) = 0;
};

using EncodedLaunches = std::vector<std::unique_ptr<EncodedLaunch>>;

/// The kernels of a bundle, loaded onto one device. Several threads may launch
/// them.
class LoadedKernels {
public:
  virtual ~LoadedKernels() = default;

  /// Enqueues one launch on `stream`, a handle of the device's kind. Returns
  /// without waiting for it. `mayOverlap` is as for EncodedLaunch::submit.
  virtual Status launch(const PreparedLaunch &launch, void *stream,
                        bool mayOverlap) = 0;

  /// Sets `out` to the launch, ready to be submitted, or to null on a device
  /// that cannot prepare launches.
  virtual Status encode(const PreparedLaunch &,
                        std::unique_ptr<EncodedLaunch> &out) {
    out = nullptr;
    return {};
  }

  /// Reports what `launch` would refuse before it begins, on a device that
  /// cannot encode launches.
  virtual Status check(const PreparedLaunch &) { return {}; }
};

/// One device. It lives as long as the process.
class Device {
public:
  virtual ~Device() = default;

  /// The value of "sm_count".
  virtual int64_t getMultiprocessorCount() const = 0;

  /// Loads the kernels of `launches`, which are some of the plan's. Refuses a
  /// target that this device cannot run.
  virtual Status load(const Bundle &code, const LaunchPlan &plan,
                      const std::vector<const PlanLaunch *> &launches,
                      std::unique_ptr<LoadedKernels> &kernels) = 0;

  /// Enqueues the clearing of `bytes` bytes of device memory.
  virtual Status clear(void *address, size_t bytes, void *stream) = 0;

  /// Whether work that is enqueued on `stream` is captured rather than run.
  virtual bool isCapturing(void *stream) const = 0;
};

void setLogCallback(attn_log_callback callback, void *user);

/// Passes a message to the log callback, if there is one.
void logMessage(attn_log_level level, const std::string &message);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_DEVICE_H
