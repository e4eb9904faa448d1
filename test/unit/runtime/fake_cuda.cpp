// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda.so.1 without a GPU, for tests of whole programs: device memory is
// host memory, and every kernel is attention on the CPU, right or wrong as its
// name says. Its parameters are those of toolPlanText().

#include "cuda_driver.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace attn::runtime;

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult

namespace {

/// The last kernel launched decides the state of the stream.
CUresult streamState = 0;
int launches = 0;

float bf16(const uint16_t *at) {
  uint32_t bits = uint32_t(*at) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void storeBf16(uint16_t *at, double value) {
  float narrow = float(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  *at = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// The parameters of one launch.
struct Params {
  void **at;
  template <typename T> T get(int index) const {
    T value;
    std::memcpy(&value, at[index], sizeof(T));
    return value;
  }
  /// Batch, seqlen and head strides of tensor 0 to 3: q, k, v, o.
  int64_t offset(int tensor, int64_t b, int64_t s, int64_t h) const {
    int first = 11 + 3 * tensor;
    return b * get<int64_t>(first) + s * get<int64_t>(first + 1) +
           h * get<int64_t>(first + 2);
  }
};

constexpr int kDim = 64;

/// One row, causal and aligned to the bottom right.
void runRow(const Params &p, const std::string &name, int64_t b, int64_t h,
            int64_t i) {
  int64_t sq = p.get<int>(7), sk = p.get<int>(8);
  int64_t kvHead = h / (p.get<int>(9) / p.get<int>(10));
  const uint16_t *q = p.get<uint16_t *>(1) + p.offset(0, b, i, h);
  uint16_t *o = p.get<uint16_t *>(4) + p.offset(3, b, i, h);
  float *lse =
      p.get<float *>(5) + b * p.get<int64_t>(23) + h * p.get<int64_t>(24) + i;
  double scale = p.get<float>(6) * (name == "wrong" ? 1.05 : 1.0);
  double sum = 0;
  std::vector<double> out(kDim);
  for (int64_t j = 0; j <= i + sk - sq; ++j) {
    const uint16_t *k = p.get<uint16_t *>(2) + p.offset(1, b, j, kvHead);
    const uint16_t *v = p.get<uint16_t *>(3) + p.offset(2, b, j, kvHead);
    double s = 0;
    for (int c = 0; c < kDim; ++c) {
      s += double(bf16(q + c)) * double(bf16(k + c));
    }
    double weight = std::exp(s * scale);
    sum += weight;
    for (int c = 0; c < kDim; ++c) {
      out[size_t(c)] += weight * double(bf16(v + c));
    }
  }
  for (int c = 0; c < kDim; ++c) {
    storeBf16(o + c, sum > 0 ? out[size_t(c)] / sum : 0);
  }
  *lse = float(std::log(sum));
}

void runKernel(const Params &p, const std::string &name) {
  int batch = int(p.get<int>(25)), heads = p.get<int>(9), sq = p.get<int>(7);
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      for (int i = 0; i < sq - (name == "incomplete"); ++i) {
        runRow(p, name, b, h, i);
      }
    }
  }
  uint16_t *o = p.get<uint16_t *>(4);
  if (name == "overrun") {
    o[-3] = 0;
  }
  if (name == "flaky" && launches % 3 == 0) {
    o[5] ^= 1;
  }
  if (name == "tamper") {
    p.get<uint16_t *>(2)[0] ^= 1;
  }
}

} // namespace

FAKE cuInit(unsigned) { return 0; }
FAKE cuGetErrorName(CUresult result, const char **name) {
  *name = result == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
FAKE cuDriverGetVersion(int *version) {
  *version = 12080;
  return 0;
}
FAKE cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
FAKE cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : 101;
}
FAKE cuDeviceGetName(char *name, int size, CUdevice) {
  std::snprintf(name, size_t(size), "Fake GPU");
  return 0;
}
FAKE cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  *value = attribute == kAttributeComputeCapabilityMajor   ? 9
           : attribute == kAttributeComputeCapabilityMinor ? 0
                                                           : 132;
  return 0;
}
FAKE cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(1);
  return 0;
}
FAKE cuCtxGetCurrent(CUcontext *context) {
  *context = reinterpret_cast<CUcontext>(1);
  return 0;
}
FAKE cuCtxSetCurrent(CUcontext) { return 0; }
FAKE cuCtxPushCurrent_v2(CUcontext) { return 0; }
FAKE cuCtxPopCurrent_v2(CUcontext *) { return 0; }
FAKE cuCtxSynchronize() { return streamState; }
FAKE cuStreamIsCapturing(CUstream, int *status) {
  *status = kCaptureStatusNone;
  return 0;
}
FAKE cuStreamGetCaptureInfo_v2(CUstream, int *status, uint64_t *, CUgraph *,
                               const void **, size_t *) {
  *status = kCaptureStatusNone;
  return 0;
}
FAKE cuThreadExchangeStreamCaptureMode(int *) { return 0; }
FAKE cuUserObjectCreate(CUuserObject *, void *, void (*)(void *), unsigned,
                        unsigned) {
  return 0;
}
FAKE cuUserObjectRelease(CUuserObject, unsigned) { return 0; }
FAKE cuGraphRetainUserObject(CUgraph, CUuserObject, unsigned, unsigned) {
  return 0;
}
FAKE cuModuleLoadDataEx(CUmodule *module, const void *, unsigned, int *,
                        void **) {
  *module = reinterpret_cast<CUmodule>(1);
  return 0;
}
FAKE cuModuleUnload(CUmodule) { return 0; }
FAKE cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  *function = reinterpret_cast<CUfunction>(strdup(name));
  return 0;
}
FAKE cuFuncGetAttribute(int *value, int, CUfunction) {
  *value = 0;
  return 0;
}
FAKE cuFuncSetAttribute(CUfunction, int, int) { return 0; }
FAKE cuTensorMapEncodeTiled(TensorMap *, int, uint32_t, void *,
                            const uint64_t *, const uint64_t *,
                            const uint32_t *, const uint32_t *, int, int, int,
                            int) {
  return 0;
}
FAKE cuTensorMapReplaceAddress(TensorMap *, void *) { return 0; }
FAKE cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t size,
                     CUstream) {
  std::memset(reinterpret_cast<void *>(address), value, size);
  return streamState;
}
FAKE cuLaunchKernelEx(const CudaLaunchConfig *, CUfunction function,
                      void **params, void **) {
  std::string name = reinterpret_cast<const char *>(function);
  ++launches;
  streamState = name == "hang" ? 600 : name == "fault" ? 719 : 0;
  if (streamState == 0) {
    runKernel({params}, name);
  }
  return 0;
}
FAKE cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
  *address = reinterpret_cast<CUdeviceptr>(
      std::aligned_alloc(256, (size + 255) / 256 * 256));
  return 0;
}
FAKE cuMemFree_v2(CUdeviceptr address) {
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
FAKE cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return streamState;
}
FAKE cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return streamState;
}
FAKE cuStreamCreate(CUstream *stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(1);
  return 0;
}
FAKE cuStreamQuery(CUstream) { return streamState; }
FAKE cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(1);
  return 0;
}
FAKE cuEventRecord(CUevent, CUstream) { return 0; }
FAKE cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  *milliseconds = 20.0f;
  return 0;
}
