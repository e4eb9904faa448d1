// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface to the device that attn-run uses: memory, a stream, events and
// launches.

#ifndef ATTN_TOOLS_ATTN_RUN_GPU_H
#define ATTN_TOOLS_ATTN_RUN_GPU_H

#include "attn/runtime/attn.h"
#include "cuda_driver.h"

#include <string>

namespace attn::run {

class Gpu {
public:
  virtual ~Gpu() = default;

  const std::string &getError() const { return error; }
  /// The name of the device, for people and for result files.
  virtual std::string getName() const = 0;
  virtual std::string getDriverVersion() const = 0;
  /// The DLPack device of its tensors.
  virtual DLDevice getDevice() const = 0;
  virtual void *getStream() const = 0;

  virtual bool allocate(size_t size, runtime::CUdeviceptr &address) = 0;
  virtual void free(runtime::CUdeviceptr address) = 0;
  /// Both copies are complete on return.
  virtual bool upload(runtime::CUdeviceptr to, const void *from,
                      size_t size) = 0;
  virtual bool download(void *to, runtime::CUdeviceptr from, size_t size) = 0;

  // Calls of the C interface.
  bool prepare(attn_bundle *bundle) {
    return checkCall(attn_bundle_prepare(bundle, getDevice()));
  }
  bool chooseVariant(attn_bundle *bundle, const attn_launch_args &args,
                     size_t &index) {
    return checkCall(attn_choose_variant(bundle, &args, &index));
  }
  bool workspaceSize(attn_bundle *bundle, const attn_launch_args &args,
                     size_t &bytes) {
    return checkCall(attn_workspace_size(bundle, &args, &bytes));
  }
  bool launch(attn_bundle *bundle, const attn_launch_args &args) {
    return checkCall(attn_launch(bundle, &args));
  }

  /// Selects the order of unordered operations in later launches. A GPU ignores
  /// it.
  virtual void setSchedule(uint64_t) {}

  /// Waits until the stream is idle, at most `seconds`.
  virtual bool finish(double seconds) = 0;

  /// Events 0 to count - 1, created on first use.
  virtual bool reserveEvents(size_t count) = 0;
  virtual bool record(size_t event) = 0;
  /// Milliseconds between two recorded events of a finished stream.
  virtual bool elapsed(size_t from, size_t to, double &milliseconds) = 0;

protected:
  std::string error;

private:
  /// Keeps the C interface's last message on failure.
  bool checkCall(attn_status status) {
    if (status != ATTN_SUCCESS) {
      error = attn_last_error();
    }
    return status == ATTN_SUCCESS;
  }
};

/// Memory on a device.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer &) = delete;
  ~DeviceBuffer() {
    if (address) {
      gpu->free(address);
    }
  }

  bool allocate(Gpu &on, size_t size) {
    gpu = &on;
    return gpu->allocate(size, address);
  }
  runtime::CUdeviceptr get() const { return address; }

private:
  Gpu *gpu = nullptr;
  runtime::CUdeviceptr address = 0;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_GPU_H
