// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fake_driver.h"

#include <cstdio>
#include <cstring>

using namespace attn::runtime;

FakeDriverState &attn::runtime::fakeState() {
  static FakeDriverState state;
  return state;
}

namespace {

CUresult resultOf(const char *function) {
  return fakeState().failing == function ? fakeState().failure : 0;
}

CUresult getErrorName(CUresult result, const char **name) {
  *name = result == 1     ? "CUDA_ERROR_INVALID_VALUE"
          : result == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
                          : nullptr;
  return *name ? 0 : 1;
}

CUresult deviceGetAttribute(int *value, int attribute, CUdevice) {
  *value = attribute == kAttributeComputeCapabilityMajor   ? fakeState().major
           : attribute == kAttributeComputeCapabilityMinor ? fakeState().minor
                                                           : 132;
  return 0;
}

CUresult primaryContextRetain(CUcontext *context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(0xc0);
  return resultOf("cuDevicePrimaryCtxRetain");
}

CUresult moduleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                          int *options, void **values) {
  fakeState().image.assign(static_cast<const char *>(image), 4);
  *module = reinterpret_cast<CUmodule>(0xd0);
  if (count == 2 && options[0] == kJitErrorLogBuffer) {
    std::snprintf(static_cast<char *>(values[0]),
                  reinterpret_cast<size_t>(values[1]), "%s",
                  fakeState().jitLog.c_str());
  }
  return resultOf("cuModuleLoadDataEx");
}

CUresult moduleGetFunction(CUfunction *function, CUmodule, const char *name) {
  fakeState().functions.push_back(name);
  *function = reinterpret_cast<CUfunction>(0xe0);
  return resultOf("cuModuleGetFunction");
}

CUresult funcSetAttribute(CUfunction, int attribute, int value) {
  if (attribute == kFunctionMaxDynamicSharedSizeBytes) {
    fakeState().sharedSizes.push_back(value);
  }
  return resultOf("cuFuncSetAttribute");
}

CUresult tensorMapEncodeTiled(TensorMap *map, int dataType, uint32_t rank,
                              void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *, int, int swizzle,
                              int l2Promotion, int) {
  fakeState().maps.push_back({map,
                              dataType,
                              address,
                              {sizes, sizes + rank},
                              {strides, strides + rank - 1},
                              {box, box + rank},
                              swizzle,
                              l2Promotion});
  map->opaque[0] = fakeState().maps.size();
  return resultOf("cuTensorMapEncodeTiled");
}

CUresult memsetD8Async(CUdeviceptr address, unsigned char, size_t bytes,
                       CUstream stream) {
  size_t launches = fakeState().launches.size();
  fakeState().clears.push_back({address, bytes, stream, launches});
  return resultOf("cuMemsetD8Async");
}

constexpr uintptr_t kFakeGraph = 0x99;

CUresult streamGetCaptureInfo(CUstream stream, int *status, uint64_t *id,
                              CUgraph *graph, const void **, size_t *) {
  *status = stream && stream == fakeState().captured ? kCaptureStatusActive
                                                     : kCaptureStatusNone;
  *id = 5;
  *graph = reinterpret_cast<CUgraph>(kFakeGraph);
  return resultOf("cuStreamGetCaptureInfo");
}

CUresult launchKernelEx(const CudaLaunchConfig *config, CUfunction,
                        void **params, void **) {
  RecordedLaunch launch;
  launch.config = *config;
  launch.context = fakeState().current;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CudaLaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == kLaunchAttributeClusterDimension) {
      const unsigned *dims = attribute.value.clusterDim;
      launch.cluster.assign(dims, dims + 3);
    } else if (attribute.id ==
               kLaunchAttributeProgrammaticStreamSerialization) {
      launch.dependent =
          attribute.value.programmaticStreamSerializationAllowed == 1;
    }
  }
  for (size_t i = 0; i < fakeState().paramCount; ++i) {
    uint64_t word;
    std::memcpy(&word, params[i], sizeof(word));
    launch.params.push_back(params[i]);
    launch.words.push_back(word);
  }
  fakeState().launches.push_back(launch);
  return resultOf("cuLaunchKernelEx");
}

} // namespace

CudaDriver attn::runtime::makeFakeDriver() {
  fakeState() = FakeDriverState();
  CudaDriver driver = {};
  driver.init = [](unsigned) { return 0; };
  driver.getErrorName = getErrorName;
  driver.deviceGetCount = [](int *count) {
    *count = fakeState().deviceCount;
    return 0;
  };
  driver.deviceGet = [](CUdevice *device, int ordinal) {
    *device = ordinal;
    return 0;
  };
  driver.deviceGetAttribute = deviceGetAttribute;
  driver.primaryContextRetain = primaryContextRetain;
  driver.contextGetCurrent = [](CUcontext *context) {
    *context = fakeState().current;
    return 0;
  };
  driver.contextPush = [](CUcontext context) {
    fakeState().current = context;
    ++fakeState().pushes;
    return resultOf("cuCtxPushCurrent");
  };
  driver.contextPop = [](CUcontext *context) {
    *context = fakeState().current;
    fakeState().current = nullptr;
    ++fakeState().pops;
    return 0;
  };
  driver.streamIsCapturing = [](CUstream stream, int *status) {
    *status = stream && stream == fakeState().captured;
    return resultOf("cuStreamIsCapturing");
  };
  driver.streamGetCaptureInfo = streamGetCaptureInfo;
  driver.userObjectCreate = [](CUuserObject *, void *object,
                               void (*destroy)(void *), unsigned, unsigned) {
    fakeState().destroyed = destroy;
    fakeState().destroyedObject = object;
    return resultOf("cuUserObjectCreate");
  };
  driver.userObjectRelease = [](CUuserObject, unsigned) {
    fakeState().destroyed(fakeState().destroyedObject);
    return 0;
  };
  driver.graphRetainUserObject = [](CUgraph graph, CUuserObject, unsigned,
                                    unsigned) {
    fakeState().objectIsOfGraph =
        graph == reinterpret_cast<CUgraph>(kFakeGraph);
    return resultOf("cuGraphRetainUserObject");
  };
  driver.moduleLoadDataEx = moduleLoadDataEx;
  driver.moduleUnload = [](CUmodule) {
    ++fakeState().unloads;
    return 0;
  };
  driver.moduleGetFunction = moduleGetFunction;
  driver.funcGetAttribute = [](int *value, int, CUfunction) {
    *value = 0;
    return 0;
  };
  driver.funcSetAttribute = funcSetAttribute;
  driver.tensorMapEncodeTiled = tensorMapEncodeTiled;
  driver.tensorMapReplaceAddress = [](TensorMap *map, void *address) {
    fakeState().moves.push_back({map, address});
    return resultOf("cuTensorMapReplaceAddress");
  };
  driver.memsetD8Async = memsetD8Async;
  driver.launchKernelEx = launchKernelEx;
  return driver;
}
