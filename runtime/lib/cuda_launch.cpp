// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cuda_launch.h"

#include <algorithm>

using namespace attn::runtime;

Status attn::runtime::cudaFailure(const CudaDriver &driver,
                                  const std::string &what,
                                  const std::string &kernel, CUresult result) {
  return {ATTN_DEVICE_ERROR, what + " of kernel " + quote(kernel) +
                                 " failed with " +
                                 cudaErrorName(driver, result)};
}

Status CudaLaunch::describeFailure(const char *what, CUresult result) const {
  return cudaFailure(device.getDriver(), what, launch.kernel, result);
}

CudaLaunchAttribute &CudaLaunch::addAttribute(int id) {
  CudaLaunchAttribute &added = attributes[config.numAttrs++];
  added.id = id;
  config.attrs = attributes;
  return added;
}

CudaLaunch::CudaLaunch(const CudaDevice &device, CUfunction function,
                       const PreparedLaunch &prepared)
    : device(device), launch(*prepared.launch), function(function) {
  config.gridDimX = prepared.grid[0];
  config.gridDimY = prepared.grid[1];
  config.gridDimZ = prepared.grid[2];
  config.blockDimX = launch.block[0];
  config.blockDimY = launch.block[1];
  config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.smem;
  if (launch.cluster != std::array<unsigned, 3>{1, 1, 1}) {
    std::copy(launch.cluster.begin(), launch.cluster.end(),
              addAttribute(kLaunchAttributeClusterDimension).value.clusterDim);
  }
  if (launch.dependent) {
    overlap = &addAttribute(kLaunchAttributeProgrammaticStreamSerialization);
  }
}

/// CUtensorMapDataType.
static int mapDataType(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::U8:
  case DataType::I8:
    return 0;
  case DataType::I16:
    return 1;
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

static CUresult encodeMap(const CudaDriver &driver,
                          const TensorMapRequest &request, TensorMap &map) {
  uint32_t elementStrides[kMaxTensorMapRank];
  std::fill(std::begin(elementStrides), std::end(elementStrides), 1);
  return driver.tensorMapEncodeTiled(
      &map, mapDataType(request.dtype), uint32_t(request.rank), request.address,
      request.sizes, request.strides, request.box, elementStrides,
      /*interleave=*/0, mapSwizzle(request.swizzle),
      mapL2Promotion(request.l2Promotion), /*oobFill=*/0);
}

Status CudaLaunch::encodeMaps(const PreparedLaunch &prepared) {
  words.resize(prepared.params.size());
  params.resize(prepared.params.size());
  for (size_t i = 0; i < prepared.params.size(); ++i) {
    const PreparedParam &param = prepared.params[i];
    words[i] = param.value;
    params[i] = &words[i];
    if (param.kind == ParamKind::TensorMap) {
      maps.push_back({{}, i, param.map.address});
    }
  }
  for (Map &map : maps) {
    CUresult result = encodeMap(device.getDriver(),
                                prepared.params[map.param].map, map.content);
    if (result != kCudaSuccess) {
      return describeFailure("cuTensorMapEncodeTiled", result);
    }
    params[map.param] = &map.content;
  }
  return {};
}

Status CudaLaunch::setMemory(void *const *addresses, void *workspace) {
  for (Map &map : maps) {
    void *address = addresses[launch.params[map.param].arg];
    if (address == map.address) {
      continue;
    }
    CUresult result =
        device.getDriver().tensorMapReplaceAddress(&map.content, address);
    if (result != kCudaSuccess) {
      return describeFailure("cuTensorMapReplaceAddress", result);
    }
    map.address = address;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    const PlanParam &param = launch.params[i];
    if (param.kind == ParamKind::Pointer) {
      words[i] = reinterpret_cast<uintptr_t>(addresses[param.arg]);
    } else if (param.kind == ParamKind::Workspace) {
      words[i] = reinterpret_cast<uintptr_t>(workspace);
    }
  }
  return {};
}

Status CudaLaunch::submit(void *stream, bool mayOverlap) {
  CurrentContext current(device);
  if (current.getResult() != kCudaSuccess) {
    return describeFailure("cuCtxPushCurrent", current.getResult());
  }
  config.hStream = static_cast<CUstream>(stream);
  if (overlap) {
    overlap->value.programmaticStreamSerializationAllowed = mayOverlap;
  }
  CUresult result = device.getDriver().launchKernelEx(&config, function,
                                                      params.data(), nullptr);
  return result == kCudaSuccess ? Status()
                                : describeFailure("cuLaunchKernelEx", result);
}
