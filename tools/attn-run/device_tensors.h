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

  // Each function returns false on failure and sets `error`.

  /// Makes the tensors of a problem and uploads them; outputs are poisoned.
  bool make(const runtime::LaunchPlan &plan, const Problem &problem,
            std::string &error);
  /// Uploads the host's tensors.
  bool upload(std::string &error);
  bool poisonOutputs(std::string &error);
  /// Downloads the bytes of tensor `index` from the GPU, guards included.
  bool download(size_t index, std::vector<unsigned char> &bytes,
                std::string &error);
  /// Checks that the outputs on the host are in bounds and complete, and that
  /// the inputs on the GPU are unchanged.
  bool checkGuards(std::string &error);

  /// On the host.
  std::vector<HostTensor> tensors;
  /// On the GPU, one for each tensor.
  std::vector<const DLTensor *> views;

private:
  void describe();

  Gpu &gpu;
  std::deque<DeviceBuffer> buffers;
  std::vector<DLTensor> described;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_DEVICE_TENSORS_H
