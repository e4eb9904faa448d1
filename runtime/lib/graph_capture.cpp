// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "graph_capture.h"

#include <deque>
#include <mutex>

using namespace attn::runtime;

Capture attn::runtime::findCapture(const CudaDevice &device, void *stream) {
  CurrentContext current(device);
  Capture capture;
  int status = kCaptureStatusNone;
  CUresult result = device.getDriver().streamGetCaptureInfo(
      static_cast<CUstream>(stream), &status, &capture.id, &capture.graph,
      nullptr, nullptr);
  bool isActive = result == kCudaSuccess && status == kCaptureStatusActive;
  return isActive ? capture : Capture();
}

/// A new 0. Never destroyed: graphs may outlive static destructors.
static std::atomic<int32_t> *makeFlag() {
  static auto *mutex = new std::mutex;
  static auto *flags = new std::deque<std::atomic<int32_t>>;
  std::lock_guard<std::mutex> lock(*mutex);
  return &flags->emplace_back(0);
}

static void setFlag(void *flag) {
  static_cast<std::atomic<int32_t> *>(flag)->store(1);
}

const std::atomic<int32_t> *attn::runtime::watchGraph(const CudaDevice &device,
                                                      CUgraph graph) {
  const CudaDriver &driver = device.getDriver();
  CurrentContext current(device);
  std::atomic<int32_t> *flag = makeFlag();
  CUuserObject object = nullptr;
  if (driver.userObjectCreate(&object, flag, setFlag, 1,
                              kUserObjectNoDestructorSync) != kCudaSuccess) {
    return nullptr;
  }
  if (driver.graphRetainUserObject(graph, object, 1, kGraphUserObjectMove) !=
      kCudaSuccess) {
    driver.userObjectRelease(object, 1);
    return nullptr;
  }
  return flag;
}
