// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the GPU that attn-run uses directly: memory, a stream, events.

#ifndef ATTN_TOOLS_ATTN_RUN_CUDA_MEMORY_H
#define ATTN_TOOLS_ATTN_RUN_CUDA_MEMORY_H

#include "gpu.h"

#include <vector>

namespace attn::run {

class CudaGpu final : public Gpu {
public:
  ~CudaGpu() override;

  bool open(int ordinal);
  std::string getName() const override { return name; }
  /// The CUDA version that the driver supports, for example "13.0".
  std::string getDriverVersion() const override { return driverVersion; }
  DLDevice getDevice() const override { return {kDLCUDA, ordinal}; }
  void *getStream() const override { return stream; }

  bool allocate(size_t size, runtime::CUdeviceptr &address) override;
  void free(runtime::CUdeviceptr address) override;
  bool upload(runtime::CUdeviceptr to, const void *from, size_t size) override;
  bool download(void *to, runtime::CUdeviceptr from, size_t size) override;
  bool finish(double seconds) override;
  bool reserveEvents(size_t count) override;
  bool record(size_t event) override;
  bool elapsed(size_t from, size_t to, double &milliseconds) override;

private:
  struct Api;
  bool check(int result, const char *what);

  Api *api = nullptr;
  int ordinal = 0;
  runtime::CUstream stream = nullptr;
  std::vector<runtime::CUevent> events;
  std::string name;
  std::string driverVersion;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CUDA_MEMORY_H
