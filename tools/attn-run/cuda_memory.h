// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU as attn-run uses it beside the runtime: memory, a stream, events.

#ifndef ATTN_TOOLS_ATTN_RUN_CUDA_MEMORY_H
#define ATTN_TOOLS_ATTN_RUN_CUDA_MEMORY_H

#include "cuda_driver.h"

#include <string>
#include <vector>

namespace attn::run {

/// A GPU whose primary context is current in this thread, and one stream.
/// Functions that return bool set the error on failure.
class Gpu {
public:
  ~Gpu();

  bool open(int ordinal);
  const std::string &getError() const { return error; }
  const std::string &getName() const { return name; }
  /// The CUDA version that the driver supports, for example "13.0".
  const std::string &getDriverVersion() const { return driverVersion; }
  void *getStream() const { return stream; }

  bool allocate(size_t size, runtime::CUdeviceptr &address);
  void free(runtime::CUdeviceptr address);
  /// Both copies are complete on return.
  bool upload(runtime::CUdeviceptr to, const void *from, size_t size);
  bool download(void *to, runtime::CUdeviceptr from, size_t size);

  /// Waits until the stream is idle, at most `seconds`.
  bool finish(double seconds);

  /// Events 0 to count - 1, created on first use.
  bool reserveEvents(size_t count);
  bool record(size_t event);
  /// Milliseconds between two recorded events of a finished stream.
  bool elapsed(size_t from, size_t to, double &milliseconds);

private:
  struct Api;
  bool check(int result, const char *what);

  Api *api = nullptr;
  runtime::CUstream stream = nullptr;
  std::vector<runtime::CUevent> events;
  std::string name;
  std::string driverVersion;
  std::string error;
};

/// Device memory that is freed with it.
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

#endif // ATTN_TOOLS_ATTN_RUN_CUDA_MEMORY_H
