// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim_memory.h"

#include "device/sim_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attn;
using namespace attn::run;

/// The alignment of cuMemAlloc.
static constexpr size_t kAlignment = 256;

void SimGpu::setMultiprocessorCount(int64_t count) {
  multiprocessors = count;
  sim::getSimDevice().setMultiprocessorCount(count);
}

/// The order also decides which CTA computes a work item: a schedule uses only
/// some of the multiprocessors, unless results depend on their number.
void SimGpu::setSchedule(uint64_t seed) {
  sim::SimDevice &device = sim::getSimDevice();
  device.getOptions().seed = seed;
  int64_t some = 1 + int64_t(seed % uint64_t(multiprocessors));
  bool takesAll = seed == 0 || keepsCount;
  device.setMultiprocessorCount(takesAll ? multiprocessors : some);
}

bool SimGpu::allocate(size_t size, runtime::CUdeviceptr &address) {
  size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  void *memory = std::aligned_alloc(kAlignment, rounded ? rounded : kAlignment);
  if (!memory) {
    error = "no host memory for " + std::to_string(size) + " bytes";
    return false;
  }
  address = runtime::CUdeviceptr(reinterpret_cast<uintptr_t>(memory));
  return true;
}

void SimGpu::free(runtime::CUdeviceptr address) {
  std::free(reinterpret_cast<void *>(uintptr_t(address)));
}

bool SimGpu::upload(runtime::CUdeviceptr to, const void *from, size_t size) {
  std::memcpy(reinterpret_cast<void *>(uintptr_t(to)), from, size);
  return true;
}

bool SimGpu::download(void *to, runtime::CUdeviceptr from, size_t size) {
  std::memcpy(to, reinterpret_cast<const void *>(uintptr_t(from)), size);
  return true;
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
