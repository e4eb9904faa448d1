// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cuda_memory.h"

#include <chrono>
#include <thread>

using namespace attn::runtime;
using namespace attn::run;

/// CU_STREAM_NON_BLOCKING: not ordered with the default stream, so that a
/// kernel on the wrong stream is detected.
static constexpr unsigned kNonBlocking = 1;
static constexpr CUresult kNotReady = 600;

struct CudaGpu::Api {
  CUresult (*init)(unsigned);
  CUresult (*getErrorName)(CUresult, const char **);
  CUresult (*driverGetVersion)(int *);
  CUresult (*deviceGet)(CUdevice *, int);
  CUresult (*deviceGetName)(char *, int, CUdevice);
  CUresult (*primaryContextRetain)(CUcontext *, CUdevice);
  CUresult (*contextSetCurrent)(CUcontext);
  CUresult (*contextSynchronize)();
  CUresult (*memAlloc)(CUdeviceptr *, size_t);
  CUresult (*memFree)(CUdeviceptr);
  CUresult (*memcpyHtoD)(CUdeviceptr, const void *, size_t);
  CUresult (*memcpyDtoH)(void *, CUdeviceptr, size_t);
  CUresult (*streamCreate)(CUstream *, unsigned);
  CUresult (*streamQuery)(CUstream);
  CUresult (*eventCreate)(CUevent *, unsigned);
  CUresult (*eventRecord)(CUevent, CUstream);
  CUresult (*eventElapsedTime)(float *, CUevent, CUevent);

  /// Returns null, or the name of a function that the driver lacks.
  const char *resolve();
};

template <typename F> static bool find(F &function, const char *name) {
  function = reinterpret_cast<F>(findDriverFunction(name));
  return function != nullptr;
}

const char *CudaGpu::Api::resolve() {
  const char *missing = nullptr;
  auto need = [&](auto &function, const char *name) {
    if (!find(function, name)) {
      missing = name;
    }
  };
  need(init, "cuInit");
  need(getErrorName, "cuGetErrorName");
  need(driverGetVersion, "cuDriverGetVersion");
  need(deviceGet, "cuDeviceGet");
  need(deviceGetName, "cuDeviceGetName");
  need(primaryContextRetain, "cuDevicePrimaryCtxRetain");
  need(contextSetCurrent, "cuCtxSetCurrent");
  need(contextSynchronize, "cuCtxSynchronize");
  need(memAlloc, "cuMemAlloc_v2");
  need(memFree, "cuMemFree_v2");
  need(memcpyHtoD, "cuMemcpyHtoD_v2");
  need(memcpyDtoH, "cuMemcpyDtoH_v2");
  need(streamCreate, "cuStreamCreate");
  need(streamQuery, "cuStreamQuery");
  need(eventCreate, "cuEventCreate");
  need(eventRecord, "cuEventRecord");
  need(eventElapsedTime, "cuEventElapsedTime");
  return missing;
}

/// The stream and the events are not destroyed: the context may be broken.
CudaGpu::~CudaGpu() { delete api; }

bool CudaGpu::check(int result, const char *what) {
  if (result == kCudaSuccess) {
    return true;
  }
  const char *text = nullptr;
  bool named = api->getErrorName(result, &text) == kCudaSuccess && text;
  error = std::string(what) + " failed with " +
          (named ? text : "CUDA error " + std::to_string(result));
  return false;
}

bool CudaGpu::open(int number) {
  ordinal = number;
  api = new Api;
  if (!findDriverFunction("cuInit")) {
    error = "no CUDA driver: libcuda.so.1 cannot be loaded";
    return false;
  }
  if (const char *missing = api->resolve()) {
    error = std::string("the CUDA driver is too old: it lacks ") + missing;
    return false;
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  char text[256] = "";
  int version = 0;
  if (!check(api->init(0), "cuInit") ||
      !check(api->deviceGet(&device, ordinal), "cuDeviceGet") ||
      !check(api->deviceGetName(text, sizeof(text), device),
             "cuDeviceGetName") ||
      !check(api->driverGetVersion(&version), "cuDriverGetVersion") ||
      !check(api->primaryContextRetain(&context, device),
             "cuDevicePrimaryCtxRetain") ||
      !check(api->contextSetCurrent(context), "cuCtxSetCurrent") ||
      !check(api->streamCreate(&stream, kNonBlocking), "cuStreamCreate")) {
    return false;
  }
  name = text;
  driverVersion = std::to_string(version / 1000) + "." +
                  std::to_string(version % 1000 / 10);
  return true;
}

bool CudaGpu::allocate(size_t size, CUdeviceptr &address) {
  return check(api->memAlloc(&address, size), "cuMemAlloc");
}

void CudaGpu::free(CUdeviceptr address) { (void)api->memFree(address); }

bool CudaGpu::upload(CUdeviceptr to, const void *from, size_t size) {
  // A copy from pageable memory may return before the data has arrived.
  return check(api->memcpyHtoD(to, from, size), "cuMemcpyHtoD") &&
         check(api->contextSynchronize(), "cuCtxSynchronize");
}

bool CudaGpu::download(void *to, CUdeviceptr from, size_t size) {
  return check(api->memcpyDtoH(to, from, size), "cuMemcpyDtoH");
}

bool CudaGpu::finish(double seconds) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  for (int64_t spins = 0;; ++spins) {
    CUresult result = api->streamQuery(stream);
    if (result != kNotReady) {
      return check(result, "the kernel");
    }
    std::chrono::duration<double> waited = Clock::now() - start;
    if (waited.count() > seconds) {
      error = "the kernel did not finish within " +
              std::to_string(int(seconds)) + " s";
      return false;
    }
    if (spins > 1000) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

bool CudaGpu::reserveEvents(size_t count) {
  while (events.size() < count) {
    CUevent event = nullptr;
    if (!check(api->eventCreate(&event, 0), "cuEventCreate")) {
      return false;
    }
    events.push_back(event);
  }
  return true;
}

bool CudaGpu::record(size_t event) {
  return check(api->eventRecord(events[event], stream), "cuEventRecord");
}

bool CudaGpu::elapsed(size_t from, size_t to, double &milliseconds) {
  float value = 0;
  bool good = check(api->eventElapsedTime(&value, events[from], events[to]),
                    "cuEventElapsedTime");
  milliseconds = value;
  return good;
}
