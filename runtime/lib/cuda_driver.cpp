// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cuda_driver.h"

#include <dlfcn.h>

using namespace attn::runtime;

void *attn::runtime::findDriverFunction(const char *name) {
  static void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : nullptr;
}

std::string attn::runtime::cudaErrorName(const CudaDriver &driver,
                                         CUresult result) {
  const char *name = nullptr;
  if (driver.getErrorName(result, &name) == kCudaSuccess && name) {
    return name;
  }
  return "CUDA error " + std::to_string(result);
}

namespace {
/// The driver, or the reason why it cannot be used.
struct LoadResult {
  CudaDriver driver;
  Status status;
};
} // namespace

/// Fills `function`; adds `name` to `missing` if the driver lacks it.
template <typename F>
static void resolve(F &function, const char *name, std::string &missing) {
  function = reinterpret_cast<F>(findDriverFunction(name));
  if (!function) {
    missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
}

static std::string resolveAll(CudaDriver &driver) {
  std::string missing;
  resolve(driver.init, "cuInit", missing);
  resolve(driver.getErrorName, "cuGetErrorName", missing);
  resolve(driver.deviceGetCount, "cuDeviceGetCount", missing);
  resolve(driver.deviceGet, "cuDeviceGet", missing);
  resolve(driver.deviceGetAttribute, "cuDeviceGetAttribute", missing);
  resolve(driver.primaryContextRetain, "cuDevicePrimaryCtxRetain", missing);
  resolve(driver.contextGetCurrent, "cuCtxGetCurrent", missing);
  resolve(driver.contextPush, "cuCtxPushCurrent_v2", missing);
  resolve(driver.contextPop, "cuCtxPopCurrent_v2", missing);
  resolve(driver.streamIsCapturing, "cuStreamIsCapturing", missing);
  resolve(driver.streamGetCaptureInfo, "cuStreamGetCaptureInfo_v2", missing);
  resolve(driver.threadExchangeStreamCaptureMode,
          "cuThreadExchangeStreamCaptureMode", missing);
  resolve(driver.userObjectCreate, "cuUserObjectCreate", missing);
  resolve(driver.userObjectRelease, "cuUserObjectRelease", missing);
  resolve(driver.graphRetainUserObject, "cuGraphRetainUserObject", missing);
  resolve(driver.moduleLoadDataEx, "cuModuleLoadDataEx", missing);
  resolve(driver.moduleUnload, "cuModuleUnload", missing);
  resolve(driver.moduleGetFunction, "cuModuleGetFunction", missing);
  resolve(driver.funcGetAttribute, "cuFuncGetAttribute", missing);
  resolve(driver.funcSetAttribute, "cuFuncSetAttribute", missing);
  resolve(driver.tensorMapEncodeTiled, "cuTensorMapEncodeTiled", missing);
  resolve(driver.tensorMapReplaceAddress, "cuTensorMapReplaceAddress", missing);
  resolve(driver.memsetD8Async, "cuMemsetD8Async", missing);
  resolve(driver.launchKernelEx, "cuLaunchKernelEx", missing);
  return missing;
}

static LoadResult loadOnce() {
  LoadResult result;
  if (!findDriverFunction("cuInit")) {
    result.status = {ATTN_NO_DEVICE,
                     "no CUDA driver: libcuda.so.1 cannot be loaded"};
    return result;
  }
  std::string missing = resolveAll(result.driver);
  if (!missing.empty()) {
    result.status = {ATTN_NO_DEVICE,
                     "the CUDA driver is too old: it lacks " + missing};
    return result;
  }
  CUresult code = result.driver.init(0);
  if (code != kCudaSuccess) {
    result.status = {ATTN_NO_DEVICE, "no CUDA device: cuInit failed with " +
                                         cudaErrorName(result.driver, code)};
  }
  return result;
}

Status attn::runtime::loadCudaDriver(const CudaDriver *&driver) {
  static const LoadResult *result = new LoadResult(loadOnce());
  driver = &result->driver;
  return result->status;
}
