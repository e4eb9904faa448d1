// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim_memory.h"

#include "device/sim_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attn;
using namespace attn::run;

/// As cuMemAlloc aligns.
static constexpr size_t kAlignment = 256;

bool SimGpu::check(const runtime::Status &status) {
  error = status.getMessage();
  return !status;
}

bool SimGpu::open(const std::string &path) {
  runtime::Bundle bundle;
  return runtime::readBundleFile(path, bundle, error) &&
         check(runtime::LoadedBundle::create(std::move(bundle), loaded));
}

static void printWarning(attn_log_level level, const char *message, void *) {
  if (level == ATTN_LOG_WARNING) {
    std::fprintf(stderr, "attn-run: warning: %s\n", message);
  }
}

void SimGpu::setHazards(const std::string &mode) {
  sim::getSimDevice().getOptions().hazards =
      mode == "error"  ? sim::HazardMode::Error
      : mode == "warn" ? sim::HazardMode::Warn
                       : sim::HazardMode::Off;
  // The simulator is a part of this program, not of the library.
  runtime::setLogCallback(printWarning, nullptr);
}

void SimGpu::setMultiprocessorCount(int64_t count) {
  multiprocessors = count;
  sim::getSimDevice().setMultiprocessorCount(count);
}

/// Which CTA computes a work item is part of the order: of the multiprocessors
/// a schedule takes some.
void SimGpu::setSchedule(uint64_t seed) {
  sim::SimDevice &device = sim::getSimDevice();
  device.getOptions().seed = seed;
  int64_t some = 1 + int64_t(seed % uint64_t(multiprocessors));
  device.setMultiprocessorCount(seed == 0 ? multiprocessors : some);
}

bool SimGpu::allocate(size_t size, runtime::CUdeviceptr &address) {
  size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  void *memory = std::aligned_alloc(kAlignment, rounded ? rounded : kAlignment);
  if (!memory) {
    error = "no host memory for " + std::to_string(size) + " bytes";
    return false;
  }
  sim::getSimDevice().getMemory().add(memory, size);
  address = runtime::CUdeviceptr(reinterpret_cast<uintptr_t>(memory));
  return true;
}

void SimGpu::free(runtime::CUdeviceptr address) {
  void *memory = reinterpret_cast<void *>(uintptr_t(address));
  sim::getSimDevice().getMemory().remove(memory);
  std::free(memory);
}

bool SimGpu::upload(runtime::CUdeviceptr to, const void *from, size_t size) {
  std::memcpy(reinterpret_cast<void *>(uintptr_t(to)), from, size);
  return true;
}

bool SimGpu::download(void *to, runtime::CUdeviceptr from, size_t size) {
  std::memcpy(to, reinterpret_cast<const void *>(uintptr_t(from)), size);
  return true;
}

bool SimGpu::prepare(attn_bundle *) {
  return check(loaded->prepare(sim::getSimDevice()));
}

bool SimGpu::chooseVariant(attn_bundle *, const attn_launch_args &args,
                           size_t &index) {
  return check(loaded->variantIndex(
      args, sim::getSimDevice().getMultiprocessorCount(), index));
}

bool SimGpu::workspaceSize(attn_bundle *, const attn_launch_args &args,
                           size_t &bytes) {
  return check(loaded->workspaceSize(
      args, sim::getSimDevice().getMultiprocessorCount(), bytes));
}

bool SimGpu::launch(attn_bundle *, const attn_launch_args &args) {
  return check(loaded->launch(sim::getSimDevice(), args));
}

bool SimGpu::reserveEvents(size_t count) {
  events.resize(count);
  return true;
}

bool SimGpu::record(size_t event) {
  events[event] = std::chrono::steady_clock::now();
  return true;
}

bool SimGpu::elapsed(size_t from, size_t to, double &milliseconds) {
  milliseconds =
      std::chrono::duration<double, std::milli>(events[to] - events[from])
          .count();
  return true;
}
