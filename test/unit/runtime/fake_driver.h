// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver table that records what it is asked to do.

#ifndef ATTN_TEST_UNIT_RUNTIME_FAKE_DRIVER_H
#define ATTN_TEST_UNIT_RUNTIME_FAKE_DRIVER_H

#include "cuda_driver.h"

#include <string>
#include <vector>

namespace attn::runtime {

struct RecordedMap {
  TensorMap *target;
  int dataType;
  void *address;
  std::vector<uint64_t> sizes;
  std::vector<uint64_t> strides;
  std::vector<uint32_t> box;
  int swizzle;
  int l2Promotion;
};

/// A tensor map whose address was replaced.
struct RecordedMove {
  TensorMap *map;
  void *address;
};

/// A memset on a stream, and how many launches came before it.
struct RecordedClear {
  CUdeviceptr address;
  size_t bytes;
  CUstream stream;
  size_t launchesBefore;
};

struct RecordedLaunch {
  CudaLaunchConfig config;
  std::vector<unsigned> cluster;
  bool dependent = false;
  std::vector<void *> params;
  /// The words at the first parameters' addresses.
  std::vector<uint64_t> words;
  CUcontext context;
};

/// What happened, and what is to happen. There is one for the process.
struct FakeDriverState {
  int major = 9;
  int minor = 0;
  int deviceCount = 1;
  /// The function that is to fail, and its result.
  std::string failing;
  CUresult failure = 1;
  std::string jitLog;
  /// The stream that is being captured.
  CUstream captured = nullptr;
  /// What is called when the last graph that was captured is destroyed.
  void (*destroyed)(void *) = nullptr;
  void *destroyedObject = nullptr;
  bool objectIsOfGraph = false;
  /// How many parameters a launch has.
  size_t paramCount = 0;

  CUcontext current = nullptr;
  int pushes = 0;
  int pops = 0;
  int unloads = 0;
  std::string image;
  std::vector<std::string> functions;
  std::vector<int> sharedSizes;
  std::vector<RecordedMap> maps;
  std::vector<RecordedMove> moves;
  std::vector<RecordedClear> clears;
  std::vector<RecordedLaunch> launches;
};

FakeDriverState &fakeState();

/// A table over a fresh state.
CudaDriver makeFakeDriver();

} // namespace attn::runtime

#endif // ATTN_TEST_UNIT_RUNTIME_FAKE_DRIVER_H
