// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cuda_kernels.h"

#include <algorithm>

using namespace attn::runtime;

/// Dynamic shared memory up to this needs no opt-in, bytes.
static constexpr unsigned kDefaultSharedMemory = 48 * 1024;

CudaKernels::~CudaKernels() {
  if (!module) {
    return;
  }
  CurrentContext current(device);
  (void)device.getDriver().moduleUnload(module);
}

Status CudaKernels::failure(const std::string &what, const std::string &kernel,
                            CUresult result) const {
  return {ATTN_DEVICE_ERROR, what + " of kernel " + quote(kernel) +
                                 " failed with " +
                                 cudaErrorName(device.getDriver(), result)};
}

Status CudaKernels::loadModule(const Bundle &bundle, const std::string &name) {
  const CudaDriver &driver = device.getDriver();
  bool assembled = !bundle.cubin.empty();
  if (!assembled && bundle.ptx.empty()) {
    return {ATTN_INVALID_BUNDLE,
            "bundle: expected a cubin or PTX section, got neither"};
  }
  char log[8192] = "";
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
  // The driver takes option values in the pointers themselves.
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  const void *image = assembled ? static_cast<const void *>(bundle.cubin.data())
                                : static_cast<const void *>(bundle.ptx.c_str());
  CUresult result = driver.moduleLoadDataEx(&module, image, 2, options, values);
  if (result == kCudaSuccess) {
    return {};
  }
  module = nullptr;
  Status status = failure(assembled ? "cuModuleLoadDataEx (cubin)"
                                    : "cuModuleLoadDataEx (PTX)",
                          name, result);
  if (log[0] == 0) {
    return status;
  }
  return {status.getCode(), status.getMessage() + ": " + log};
}

Status CudaKernels::loadKernel(const PlanLaunch &launch) {
  const CudaDriver &driver = device.getDriver();
  CUfunction function = nullptr;
  CUresult result =
      driver.moduleGetFunction(&function, module, launch.kernel.c_str());
  if (result != kCudaSuccess) {
    return failure("cuModuleGetFunction", launch.kernel, result);
  }
  if (launch.smem > kDefaultSharedMemory) {
    result = driver.funcSetAttribute(
        function, kFunctionMaxDynamicSharedSizeBytes, int(launch.smem));
    if (result != kCudaSuccess) {
      return failure("cuFuncSetAttribute (" + std::to_string(launch.smem) +
                         " bytes of shared memory)",
                     launch.kernel, result);
    }
  }
  int registers = 0;
  int local = 0;
  (void)driver.funcGetAttribute(&registers, kFunctionNumRegs, function);
  (void)driver.funcGetAttribute(&local, kFunctionLocalSizeBytes, function);
  logMessage(local ? ATTN_LOG_WARNING : ATTN_LOG_INFO,
             "kernel " + quote(launch.kernel) + ": " +
                 std::to_string(registers) + " registers, " +
                 std::to_string(local) + " bytes of local memory, " +
                 std::to_string(launch.smem) + " bytes of shared memory");
  kernels.push_back({&launch, function});
  return {};
}

Status CudaKernels::load(const Bundle &bundle, const LaunchPlan &plan) {
  if (Status status = loadModule(bundle, plan.name)) {
    return status;
  }
  for (const PlanVariant &variant : plan.variants) {
    for (const PlanLaunch &launch : variant.launches) {
      if (Status status = loadKernel(launch)) {
        return status;
      }
    }
  }
  return {};
}

/// CUtensorMapDataType.
static int mapDataType(DataType type) {
  switch (type) {
  case DataType::U8:
    return 0;
  case DataType::I32:
    return 3;
  case DataType::I64:
    return 5;
  case DataType::F16:
    return 6;
  case DataType::F32:
    return 7;
  case DataType::F64:
    return 8;
  case DataType::BF16:
    return 9;
  }
  return -1;
}

/// CUtensorMapSwizzle: none, 32, 64, 128 bytes.
static int mapSwizzle(int bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

/// CUtensorMapL2promotion: none, 64, 128, 256 bytes.
static int mapL2Promotion(int bytes) {
  return bytes == 256 ? 3 : bytes == 128 ? 2 : bytes == 64 ? 1 : 0;
}

Status CudaKernels::encodeMap(const TensorMapRequest &request,
                              const std::string &kernel, TensorMap &map) const {
  const uint32_t elementStrides[kMaxTensorMapRank] = {1, 1, 1, 1, 1};
  CUresult result = device.getDriver().tensorMapEncodeTiled(
      &map, mapDataType(request.dtype), uint32_t(request.rank), request.address,
      request.sizes, request.strides, request.box, elementStrides,
      /*interleave=*/0, mapSwizzle(request.swizzle),
      mapL2Promotion(request.l2Promotion), /*oobFill=*/0);
  return result == kCudaSuccess
             ? Status()
             : failure("cuTensorMapEncodeTiled", kernel, result);
}

namespace {

/// What a launch asks for beside its extents.
class LaunchAttributes {
public:
  explicit LaunchAttributes(const PlanLaunch &launch) {
    if (launch.cluster != std::array<unsigned, 3>{1, 1, 1}) {
      std::copy(launch.cluster.begin(), launch.cluster.end(),
                add(kLaunchAttributeClusterDimension).clusterDim);
    }
    if (launch.dependent) {
      add(kLaunchAttributeProgrammaticStreamSerialization)
          .programmaticStreamSerializationAllowed = 1;
    }
  }

  /// Null if there are none.
  CudaLaunchAttribute *data() { return count ? attributes : nullptr; }
  unsigned size() const { return count; }

private:
  decltype(CudaLaunchAttribute::value) &add(int id) {
    attributes[count].id = id;
    return attributes[count++].value;
  }

  CudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
};

} // namespace

Status CudaKernels::launch(const PreparedLaunch &prepared, void *stream) {
  const PlanLaunch &launch = *prepared.launch;
  auto kernel =
      std::find_if(kernels.begin(), kernels.end(),
                   [&](const Kernel &each) { return each.launch == &launch; });
  if (kernel == kernels.end()) {
    return {ATTN_DEVICE_ERROR,
            "kernel " + quote(launch.kernel) + " is not loaded"};
  }
  // The driver copies parameters by size from these addresses during the call.
  TensorMap maps[kMaxKernelParams];
  uint64_t words[kMaxKernelParams];
  void *params[kMaxKernelParams];
  for (size_t i = 0; i < prepared.params.size(); ++i) {
    const PreparedParam &param = prepared.params[i];
    if (param.kind != ParamKind::TensorMap) {
      words[i] = param.value;
      params[i] = &words[i];
      continue;
    }
    if (Status status = encodeMap(param.map, launch.kernel, maps[i])) {
      return status;
    }
    params[i] = &maps[i];
  }

  LaunchAttributes attributes(launch);
  CudaLaunchConfig config = {prepared.grid[0],  prepared.grid[1],
                             prepared.grid[2],  launch.block[0],
                             launch.block[1],   launch.block[2],
                             launch.smem,       static_cast<CUstream>(stream),
                             attributes.data(), attributes.size()};
  CurrentContext current(device);
  if (current.getResult() != kCudaSuccess) {
    return failure("cuCtxPushCurrent", launch.kernel, current.getResult());
  }
  CUresult result = device.getDriver().launchKernelEx(&config, kernel->function,
                                                      params, nullptr);
  return result == kCudaSuccess
             ? Status()
             : failure("cuLaunchKernelEx", launch.kernel, result);
}
