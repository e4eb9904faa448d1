// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator as attn-run uses it: host memory, launches that finish before
// they return.

#ifndef ATTN_TOOLS_ATTN_RUN_SIM_MEMORY_H
#define ATTN_TOOLS_ATTN_RUN_SIM_MEMORY_H

#include "gpu.h"
#include "loaded_bundle.h"

#include <chrono>
#include <vector>

namespace attn::run {

class SimGpu final : public Gpu {
public:
  /// Reads the bundle that will be launched.
  bool open(const std::string &path);
  /// "error", "warn" or "off".
  void setHazards(const std::string &mode);
  void setMultiprocessorCount(int64_t count);

  std::string getName() const override { return "simulator"; }
  std::string getDriverVersion() const override { return "none"; }
  DLDevice getDevice() const override { return {kDLCPU, 0}; }
  void *getStream() const override { return nullptr; }

  bool allocate(size_t size, runtime::CUdeviceptr &address) override;
  void free(runtime::CUdeviceptr address) override;
  bool upload(runtime::CUdeviceptr to, const void *from, size_t size) override;
  bool download(void *to, runtime::CUdeviceptr from, size_t size) override;
  bool prepare(attn_bundle *bundle) override;
  bool chooseVariant(attn_bundle *bundle, const attn_launch_args &args,
                     size_t &index) override;
  bool workspaceSize(attn_bundle *bundle, const attn_launch_args &args,
                     size_t &bytes) override;
  bool launch(attn_bundle *bundle, const attn_launch_args &args) override;
  void setSchedule(uint64_t seed) override;
  bool finish(double) override { return true; }
  bool reserveEvents(size_t count) override;
  bool record(size_t event) override;
  bool elapsed(size_t from, size_t to, double &milliseconds) override;

private:
  bool check(const runtime::Status &status);

  int64_t multiprocessors = 132;
  std::unique_ptr<runtime::LoadedBundle> loaded;
  std::vector<std::chrono::steady_clock::time_point> events;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_SIM_MEMORY_H
