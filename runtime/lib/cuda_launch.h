// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch as the CUDA driver takes it: tensor maps, parameters, extents.

#ifndef ATTN_RUNTIME_LIB_CUDA_LAUNCH_H
#define ATTN_RUNTIME_LIB_CUDA_LAUNCH_H

#include "cuda_device.h"

namespace attn::runtime {

class CudaLaunch final : public EncodedLaunch {
public:
  /// `prepared` may go; its plan, `device` and `function` have to stay.
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
  /// The attribute that lets the kernel begin early, if it can wait itself.
  CudaLaunchAttribute *overlap = nullptr;
  std::vector<Map> maps;
  /// One a parameter; those of maps are not used.
  std::vector<uint64_t> words;
  /// The parameters' addresses, from where the driver copies them by size.
  std::vector<void *> params;
};

/// A failure of driver function `what` for kernel `kernel`, with the CUDA error
/// name.
Status cudaFailure(const CudaDriver &driver, const std::string &what,
                   const std::string &kernel, CUresult result);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDA_LAUNCH_H
