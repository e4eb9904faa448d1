// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "workspace.h"

using namespace attn::run;

static bool failed(const Gpu &gpu, std::string &error) {
  error = gpu.getError();
  return false;
}

bool Workspace::allocate(attn_bundle *bundle, attn_launch_args &args,
                         std::string &error) {
  if (!gpu.workspaceSize(bundle, args, size)) {
    return failed(gpu, error);
  }
  if (size == 0) {
    return true;
  }
  if (!buffer.allocate(gpu, size)) {
    return failed(gpu, error);
  }
  args.workspace = reinterpret_cast<void *>(buffer.get());
  args.workspace_size = size;
  args.flags = ATTN_LAUNCH_WORKSPACE_READY;
  return clear(error);
}

bool Workspace::clear(std::string &error) {
  std::vector<unsigned char> zeros(size);
  return zeros.empty() ||
         gpu.upload(buffer.get(), zeros.data(), zeros.size()) ||
         failed(gpu, error);
}

bool Workspace::download(std::vector<unsigned char> &bytes,
                         std::string &error) {
  bytes.resize(size);
  return gpu.download(bytes.data(), buffer.get(), bytes.size()) ||
         failed(gpu, error);
}
