// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem's tensors on the host and on the GPU.

#ifndef ATTN_TOOLS_ATTN_RUN_DEVICE_TENSORS_H
#define ATTN_TOOLS_ATTN_RUN_DEVICE_TENSORS_H

#include "attn/runtime/dlpack.h"
#include "gpu.h"
#include "tensors.h"

#include <deque>

namespace attn::run {

class DeviceTensors {
public:
  explicit DeviceTensors(Gpu &gpu) : gpu(gpu) {}

  // Each returns false on failure and sets `error`.

  /// Makes the tensors of a problem and uploads them, outputs as poison.
  bool make(const runtime::LaunchPlan &plan, const Problem &problem,
            std::string &error);
  /// Uploads what the host has.
  bool upload(std::string &error);
  bool poisonOutputs(std::string &error);
  /// The bytes of tensor `index` on the GPU, guards included.
  bool download(size_t index, std::vector<unsigned char> &bytes,
                std::string &error);
  /// Requires the outputs as the host has them to be in bounds and complete,
  /// and the inputs on the GPU to be unchanged.
  bool checkGuards(std::string &error);

  /// On the host.
  std::vector<HostTensor> tensors;
  /// Of the GPU, one for each tensor.
  std::vector<const DLTensor *> views;

private:
  void describe();

  Gpu &gpu;
  std::deque<DeviceBuffer> buffers;
  std::vector<DLTensor> described;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_DEVICE_TENSORS_H
