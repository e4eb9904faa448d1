// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime asks of whatever executes kernels.

#ifndef ATTN_RUNTIME_LIB_DEVICE_H
#define ATTN_RUNTIME_LIB_DEVICE_H

#include "attn/runtime/bundle.h"
#include "prepared_launch.h"

#include <memory>

namespace attn::runtime {

/// A launch that is ready to be submitted, again and again, on other memory
/// each time. One thread at a time may use it.
class EncodedLaunch {
public:
  virtual ~EncodedLaunch() = default;

  /// `addresses` has one for every argument of the plan, which counts for those
  /// that are tensors.
  virtual Status setMemory(void *const *addresses, void *workspace) = 0;

  /// Enqueues it on `stream` and returns without waiting for it. `mayOverlap`:
  /// a kernel that can wait for the one ahead of it itself may begin before.
  virtual Status submit(void *stream, bool mayOverlap) = 0;
};

/// A bundle's kernels, loaded onto one device. Its launches may come from
/// several threads.
class LoadedKernels {
public:
  virtual ~LoadedKernels() = default;

  /// Enqueues one launch on `stream`, a handle of the device's kind. Returns
  /// without waiting for it. `mayOverlap` is that of EncodedLaunch::submit.
  virtual Status launch(const PreparedLaunch &launch, void *stream,
                        bool mayOverlap) = 0;

  /// Sets `out` to the launch, ready to be submitted; to null on a device that
  /// only launches one by one.
  virtual Status encode(const PreparedLaunch &,
                        std::unique_ptr<EncodedLaunch> &out) {
    out = nullptr;
    return {};
  }
};

/// One device. Lives as long as the process.
class Device {
public:
  virtual ~Device() = default;

  /// What "sm_count" stands for.
  virtual int64_t getMultiprocessorCount() const = 0;

  /// Loads the kernels that `plan` names. Refuses a target that this device is
  /// not.
  virtual Status load(const Bundle &bundle, const LaunchPlan &plan,
                      std::unique_ptr<LoadedKernels> &kernels) = 0;

  /// Enqueues that `bytes` bytes of device memory become zero.
  virtual Status clear(void *address, size_t bytes, void *stream) = 0;

  /// Whether what is enqueued on `stream` is recorded rather than run.
  virtual bool isCapturing(void *stream) const = 0;
};

void setLogCallback(attn_log_callback callback, void *user);

/// Tells the log callback, if there is one.
void logMessage(attn_log_level level, const std::string &message);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_DEVICE_H
