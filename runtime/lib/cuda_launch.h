// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch in the form that the CUDA driver takes: tensor maps, parameters,
// extents.

#ifndef ATTN_RUNTIME_LIB_CUDA_LAUNCH_H
#define ATTN_RUNTIME_LIB_CUDA_LAUNCH_H

#include "cuda_device.h"

namespace attn::runtime {

class CudaLaunch final : public EncodedLaunch {
public:
  /// `prepared` is not kept; its plan, `device` and `function` must outlive
  /// this.
  CudaLaunch(const CudaDevice &device, CUfunction function,
             const PreparedLaunch &prepared);
  CudaLaunch(const CudaLaunch &) = delete;

  /// Encodes the tensor maps of the launch that the constructor got.
  Status encodeMaps(const PreparedLaunch &prepared);

  Status setMemory(void *const *addresses, void *workspace) override;
  Status submit(void *stream, bool mayOverlap) override;

private:
  /// The tensor map of parameter `param`, which begins at `address`.
  struct Map {
    TensorMap content;
    size_t param;
    void *address;
  };

  Status describeFailure(const char *what, CUresult result) const;
  CudaLaunchAttribute &addAttribute(int id);

  const CudaDevice &device;
  const PlanLaunch &launch;
  CUfunction function;
  CudaLaunchConfig config = {};
  CudaLaunchAttribute attributes[2] = {};
  /// The attribute that lets the kernel begin early, if it waits for the
  /// previous launch itself.
  CudaLaunchAttribute *overlap = nullptr;
  std::vector<Map> maps;
  /// One word per parameter; words of tensor maps are unused.
  std::vector<uint64_t> words;
  /// The addresses of the parameters, from which the driver copies them.
  std::vector<void *> params;
};

/// A failure of driver function `what` for kernel `kernel`, with the CUDA error
/// name.
Status cudaFailure(const CudaDriver &driver, const std::string &what,
                   const std::string &kernel, CUresult result);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDA_LAUNCH_H
