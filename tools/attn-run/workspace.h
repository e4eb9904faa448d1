// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that launches of a bundle share.

#ifndef ATTN_TOOLS_ATTN_RUN_WORKSPACE_H
#define ATTN_TOOLS_ATTN_RUN_WORKSPACE_H

#include "attn/runtime/attn.h"
#include "gpu.h"

#include <vector>

namespace attn::run {

class Workspace {
public:
  explicit Workspace(Gpu &gpu) : gpu(gpu) {}

  // Each function returns false on failure and sets `error`.

  /// Allocates a reset workspace for launches with `args`, whose first `zeroed`
  /// bytes have to be zero, and sets it in `args`.
  bool allocate(attn_bundle *bundle, attn_launch_args &args, size_t zeroed,
                std::string &error);
  /// Makes it as little as launches may rely on: bytes that have to be zero
  /// are, all others are NaNs.
  bool reset(std::string &error);
  /// Sets all of it to zero.
  bool clear(std::string &error);
  /// Checks that a launch has left the bytes that have to be zero so.
  bool checkZeroed(std::string &error);
  bool download(std::vector<unsigned char> &bytes, std::string &error);

private:
  Gpu &gpu;
  DeviceBuffer buffer;
  size_t size = 0;
  size_t zeroed = 0;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_WORKSPACE_H
