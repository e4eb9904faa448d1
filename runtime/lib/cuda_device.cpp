// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cuda_device.h"

#include "cuda_kernels.h"

#include <map>
#include <mutex>

using namespace attn::runtime;

CurrentContext::CurrentContext(const CudaDevice &device)
    : driver(device.getDriver()) {
  CUcontext current = nullptr;
  result = driver.contextGetCurrent(&current);
  if (result == kCudaSuccess && current != device.getCudaContext()) {
    result = driver.contextPush(device.getCudaContext());
    pushed = result == kCudaSuccess;
  }
}

CurrentContext::~CurrentContext() {
  if (pushed) {
    CUcontext popped = nullptr;
    (void)driver.contextPop(&popped);
  }
}

Status CudaDevice::open(const CudaDriver &driver, int ordinal,
                        std::unique_ptr<CudaDevice> &device) {
  int count = 0;
  CUresult result = driver.deviceGetCount(&count);
  if (result != kCudaSuccess || count == 0) {
    return {ATTN_NO_DEVICE, "no CUDA device"};
  }
  if (ordinal < 0 || ordinal >= count) {
    return {ATTN_NO_DEVICE, "expected a CUDA device ordinal from 0 to " +
                                std::to_string(count - 1) + ", got " +
                                std::to_string(ordinal)};
  }
  std::unique_ptr<CudaDevice> opened(new CudaDevice(driver));
  CUdevice handle = 0;
  const char *what = "cuDeviceGet";
  result = driver.deviceGet(&handle, ordinal);
  const struct {
    int attribute;
    int *value;
  } attributes[] = {
      {kAttributeMultiprocessorCount, &opened->multiprocessors},
      {kAttributeComputeCapabilityMajor, &opened->major},
      {kAttributeComputeCapabilityMinor, &opened->minor},
  };
  for (const auto &each : attributes) {
    if (result == kCudaSuccess) {
      what = "cuDeviceGetAttribute";
      result = driver.deviceGetAttribute(each.value, each.attribute, handle);
    }
  }
  if (result == kCudaSuccess) {
    what = "cuDevicePrimaryCtxRetain";
    result = driver.primaryContextRetain(&opened->context, handle);
  }
  if (result != kCudaSuccess) {
    return {ATTN_DEVICE_ERROR, std::string(what) + " of device " +
                                   std::to_string(ordinal) + " failed with " +
                                   cudaErrorName(driver, result)};
  }
  device = std::move(opened);
  return {};
}

/// "sm_90a" runs only on 9.0, "sm_100f" on 10.0 and later 10.x, and "sm_90" on
/// 9.0 and everything later.
Status CudaDevice::checkTarget(const std::string &target) const {
  int number = 0;
  size_t at = 3;
  if (target.compare(0, 3, "sm_") == 0) {
    for (; at < target.size() && at < 7 && isdigit(target[at]); ++at) {
      number = number * 10 + (target[at] - '0');
    }
  }
  std::string suffix = at < target.size() ? target.substr(at) : "";
  if (number < 10 || !(suffix.empty() || suffix == "a" || suffix == "f")) {
    return invalidPlan("target",
                       "expected sm_<number>[a|f], got " + quote(target));
  }
  int have = major * 10 + minor;
  bool runs = suffix == "a"   ? have == number
              : suffix == "f" ? have >= number && major == number / 10
                              : have >= number;
  if (runs) {
    return {};
  }
  return {ATTN_NO_DEVICE,
          "expected compute capability " + std::to_string(number / 10) + "." +
              std::to_string(number % 10) + " for target " + target + ", got " +
              std::to_string(major) + "." + std::to_string(minor)};
}

Status CudaDevice::load(const Bundle &code, const LaunchPlan &plan,
                        const std::vector<const PlanLaunch *> &launches,
                        std::unique_ptr<LoadedKernels> &kernels) {
  if (Status status = checkTarget(plan.target)) {
    return status;
  }
  CurrentContext current(*this);
  if (current.getResult() != kCudaSuccess) {
    return {ATTN_DEVICE_ERROR, "cuCtxPushCurrent failed with " +
                                   cudaErrorName(driver, current.getResult())};
  }
  auto loaded = std::make_unique<CudaKernels>(*this);
  if (Status status = loaded->load(code, plan.name, launches)) {
    return status;
  }
  kernels = std::move(loaded);
  return {};
}

Status CudaDevice::clear(void *address, size_t bytes, void *stream) {
  CurrentContext current(*this);
  CUresult result = current.getResult();
  if (result == kCudaSuccess) {
    result = driver.memsetD8Async(reinterpret_cast<uintptr_t>(address), 0,
                                  bytes, static_cast<CUstream>(stream));
  }
  if (result == kCudaSuccess) {
    return {};
  }
  return {ATTN_DEVICE_ERROR, "cuMemsetD8Async of " + std::to_string(bytes) +
                                 " bytes of workspace failed with " +
                                 cudaErrorName(driver, result)};
}

bool CudaDevice::isCapturing(void *stream) const {
  CurrentContext current(*this);
  int status = kCaptureStatusNone;
  CUresult result =
      driver.streamIsCapturing(static_cast<CUstream>(stream), &status);
  // The default stream is not captured, but fails while another one is.
  return result != kCudaSuccess || status != kCaptureStatusNone;
}

/// Opens GPU `ordinal`, once.
static Status openCudaDevice(int ordinal, CudaDevice *&device) {
  const CudaDriver *driver = nullptr;
  if (Status status = loadCudaDriver(driver)) {
    return status;
  }
  // Never destroyed: bundles may outlive static destructors.
  static auto *mutex = new std::mutex;
  static auto *devices = new std::map<int, std::unique_ptr<CudaDevice>>;
  std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<CudaDevice> &entry = (*devices)[ordinal];
  if (!entry) {
    if (Status status = CudaDevice::open(*driver, ordinal, entry)) {
      return status;
    }
  }
  device = entry.get();
  return {};
}

Status attn::runtime::getCudaDevice(int ordinal, CudaDevice *&device) {
  // The device that a thread used last, so that its launches take no lock.
  static thread_local int lastOrdinal = -1;
  static thread_local CudaDevice *last = nullptr;
  if (ordinal != lastOrdinal || !last) {
    if (Status status = openCudaDevice(ordinal, last)) {
      last = nullptr;
      return status;
    }
    lastOrdinal = ordinal;
  }
  device = last;
  return {};
}
