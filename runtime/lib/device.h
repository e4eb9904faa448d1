// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime asks of whatever executes kernels.

#ifndef ATTN_RUNTIME_LIB_DEVICE_H
#define ATTN_RUNTIME_LIB_DEVICE_H

#include "attn/runtime/bundle.h"
#include "prepared_launch.h"

#include <memory>

namespace attn::runtime {

/// A bundle's kernels, loaded onto one device. Its launches may come from
/// several threads.
class LoadedKernels {
public:
  virtual ~LoadedKernels() = default;

  /// Enqueues one launch on `stream`, a handle of the device's kind. Returns
  /// without waiting for it.
  virtual Status launch(const PreparedLaunch &launch, void *stream) = 0;
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

  /// Whether what is enqueued on `stream` is recorded rather than run.
  virtual bool isCapturing(void *stream) const = 0;
};

void setLogCallback(attn_log_callback callback, void *user);

/// Tells the log callback, if there is one.
void logMessage(attn_log_level level, const std::string &message);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_DEVICE_H
