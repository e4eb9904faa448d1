// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loaded CUDA module and its launches.

#ifndef ATTN_RUNTIME_LIB_CUDA_KERNELS_H
#define ATTN_RUNTIME_LIB_CUDA_KERNELS_H

#include "cuda_device.h"

namespace attn::runtime {

class CudaKernels final : public LoadedKernels {
public:
  explicit CudaKernels(const CudaDevice &device) : device(device) {}
  ~CudaKernels() override;

  /// Loads the cubin, or the PTX if there is none, and looks up every kernel
  /// of `plan`. The device's context has to be current.
  Status load(const Bundle &bundle, const LaunchPlan &plan);

  Status launch(const PreparedLaunch &launch, void *stream) override;

private:
  struct Kernel {
    const PlanLaunch *launch;
    CUfunction function;
  };

  Status loadModule(const Bundle &bundle, const std::string &name);
  Status loadKernel(const PlanLaunch &launch);
  Status encodeMap(const TensorMapRequest &request, const std::string &kernel,
                   TensorMap &map) const;
  /// A failure of driver function `what`, with the CUDA error name.
  Status failure(const std::string &what, const std::string &kernel,
                 CUresult result) const;

  const CudaDevice &device;
  CUmodule module = nullptr;
  std::vector<Kernel> kernels;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDA_KERNELS_H
