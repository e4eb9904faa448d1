// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator behind the Device interface. Its memory is the host's.

#ifndef ATTN_SIM_DEVICE_SIM_DEVICE_H
#define ATTN_SIM_DEVICE_SIM_DEVICE_H

#include "core/launch.h"
#include "device.h"

namespace attn::sim {

class SimDevice final : public runtime::Device {
public:
  int64_t getMultiprocessorCount() const override { return multiprocessors; }
  void setMultiprocessorCount(int64_t count) { multiprocessors = count; }
  runtime::Status
  load(const runtime::Bundle &code, const runtime::LaunchPlan &plan,
       const std::vector<const runtime::PlanLaunch *> &launches,
       std::unique_ptr<runtime::LoadedKernels> &kernels) override;
  runtime::Status clear(void *address, size_t bytes, void *stream) override;
  bool isCapturing(void *) const override { return false; }

  /// They must not change while a launch runs.
  SimOptions &getOptions() { return options; }
  const SimOptions &getOptions() const { return options; }
  /// Tracks the hazards of this kernel alone; "" for those of all.
  void trackOnly(const std::string &kernel) { tracked = kernel; }
  bool tracks(const std::string &kernel) const {
    return tracked.empty() || kernel == tracked;
  }
  /// Sets an option by name, like attn_simulator_option.
  runtime::Status setOption(const std::string &name, const std::string &value);

private:
  SimOptions options;
  std::string tracked;
  int64_t multiprocessors = 132;
};

/// The process's simulator.
SimDevice &getSimDevice();

} // namespace attn::sim

#endif // ATTN_SIM_DEVICE_SIM_DEVICE_H
