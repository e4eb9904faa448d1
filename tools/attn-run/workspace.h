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

  /// Allocates a cleared workspace for launches with `args`, and sets it in
  /// `args`.
  bool allocate(attn_bundle *bundle, attn_launch_args &args,
                std::string &error);
  bool clear(std::string &error);
  bool download(std::vector<unsigned char> &bytes, std::string &error);

private:
  Gpu &gpu;
  DeviceBuffer buffer;
  size_t size = 0;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_WORKSPACE_H
