// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator as a device of attn-run: host memory, and launches that finish
// before they return.

#ifndef ATTN_TOOLS_ATTN_RUN_SIM_MEMORY_H
#define ATTN_TOOLS_ATTN_RUN_SIM_MEMORY_H

#include "gpu.h"

#include <chrono>
#include <vector>

namespace attn::run {

class SimGpu final : public Gpu {
public:
  void setMultiprocessorCount(int64_t count);
  /// For kernels whose results depend on the number of multiprocessors.
  void keepMultiprocessorCount() { keepsCount = true; }

  std::string getName() const override { return "simulator"; }
  std::string getDriverVersion() const override { return "none"; }
  DLDevice getDevice() const override { return {kDLCPU, 0}; }
  void *getStream() const override { return nullptr; }

  bool allocate(size_t size, runtime::CUdeviceptr &address) override;
  void free(runtime::CUdeviceptr address) override;
  bool upload(runtime::CUdeviceptr to, const void *from, size_t size) override;
  bool download(void *to, runtime::CUdeviceptr from, size_t size) override;
  void setSchedule(uint64_t seed) override;
  bool finish(double) override { return true; }
  bool reserveEvents(size_t count) override;
  bool record(size_t event) override;
  bool elapsed(size_t from, size_t to, double &milliseconds) override;

private:
  int64_t multiprocessors = 132;
  bool keepsCount = false;
  std::vector<std::chrono::steady_clock::time_point> events;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_SIM_MEMORY_H
