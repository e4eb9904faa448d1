// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cuda_kernels.h"

#include "cuda_launch.h"

#include <algorithm>

using namespace attn::runtime;

/// The largest dynamic shared memory without opt-in, in bytes.
static constexpr unsigned kDefaultSharedMemory = 48 * 1024;

CudaKernels::~CudaKernels() {
  if (!module) {
    return;
  }
  CurrentContext current(device);
  (void)device.getDriver().moduleUnload(module);
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
  Status status = cudaFailure(device.getDriver(),
                              assembled ? "cuModuleLoadDataEx (cubin)"
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
    return cudaFailure(device.getDriver(), "cuModuleGetFunction", launch.kernel,
                       result);
  }
  if (launch.smem > kDefaultSharedMemory) {
    result = driver.funcSetAttribute(
        function, kFunctionMaxDynamicSharedSizeBytes, int(launch.smem));
    if (result != kCudaSuccess) {
      return cudaFailure(device.getDriver(),
                         "cuFuncSetAttribute (" + std::to_string(launch.smem) +
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

Status CudaKernels::load(const Bundle &code, const std::string &name,
                         const std::vector<const PlanLaunch *> &launches) {
  if (Status status = loadModule(code, name)) {
    return status;
  }
  for (const PlanLaunch *launch : launches) {
    if (Status status = loadKernel(*launch)) {
      return status;
    }
  }
  return {};
}

Status CudaKernels::encode(const PreparedLaunch &prepared,
                           std::unique_ptr<EncodedLaunch> &out) {
  auto kernel =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel &each) {
        return each.launch == prepared.launch;
      });
  if (kernel == kernels.end()) {
    return {ATTN_DEVICE_ERROR,
            "kernel " + quote(prepared.launch->kernel) + " is not loaded"};
  }
  auto launch =
      std::make_unique<CudaLaunch>(device, kernel->function, prepared);
  if (Status status = launch->encodeMaps(prepared)) {
    return status;
  }
  out = std::move(launch);
  return {};
}

Status CudaKernels::launch(const PreparedLaunch &prepared, void *stream,
                           bool mayOverlap) {
  std::unique_ptr<EncodedLaunch> launch;
  if (Status status = encode(prepared, launch)) {
    return status;
  }
  return launch->submit(stream, mayOverlap);
}
