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

  /// Loads the cubin, or the PTX if there is none, and looks up the kernels of
  /// `launches`. `name` is the plan's. The device's context has to be current.
  Status load(const Bundle &code, const std::string &name,
              const std::vector<const PlanLaunch *> &launches);

  Status launch(const PreparedLaunch &launch, void *stream,
                bool mayOverlap) override;
  Status encode(const PreparedLaunch &launch,
                std::unique_ptr<EncodedLaunch> &out) override;

private:
  struct Kernel {
    const PlanLaunch *launch;
    CUfunction function;
  };

  Status loadModule(const Bundle &bundle, const std::string &name);
  Status loadKernel(const PlanLaunch &launch);

  const CudaDevice &device;
  CUmodule module = nullptr;
  std::vector<Kernel> kernels;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDA_KERNELS_H
