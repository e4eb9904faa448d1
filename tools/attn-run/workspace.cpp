// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "workspace.h"

#include "host_tensor.h"

#include <algorithm>

using namespace attn::run;

static bool failed(const Gpu &gpu, std::string &error) {
  error = gpu.getError();
  return false;
}

bool Workspace::allocate(attn_bundle *bundle, attn_launch_args &args,
                         size_t mustBeZero, std::string &error) {
  if (!gpu.workspaceSize(bundle, args, size)) {
    return failed(gpu, error);
  }
  zeroed = std::min(mustBeZero, size);
  if (size == 0) {
    return true;
  }
  if (!buffer.allocate(gpu, size)) {
    return failed(gpu, error);
  }
  args.workspace = reinterpret_cast<void *>(buffer.get());
  args.workspace_size = size;
  args.flags = ATTN_LAUNCH_WORKSPACE_READY;
  return reset(error);
}

bool Workspace::reset(std::string &error) {
  std::vector<unsigned char> bytes(size, kPoison);
  std::fill_n(bytes.begin(), zeroed, 0);
  return bytes.empty() ||
         gpu.upload(buffer.get(), bytes.data(), bytes.size()) ||
         failed(gpu, error);
}

bool Workspace::clear(std::string &error) {
  std::vector<unsigned char> zeros(size);
  return zeros.empty() ||
         gpu.upload(buffer.get(), zeros.data(), zeros.size()) ||
         failed(gpu, error);
}

bool Workspace::checkZeroed(std::string &error) {
  std::vector<unsigned char> bytes(zeroed);
  if (!bytes.empty() &&
      !gpu.download(bytes.data(), buffer.get(), bytes.size())) {
    return failed(gpu, error);
  }
  auto left = std::find_if(bytes.begin(), bytes.end(),
                           [](unsigned char byte) { return byte != 0; });
  if (left == bytes.end()) {
    return true;
  }
  error = "guard: byte " + std::to_string(left - bytes.begin()) +
          " of the workspace has to be zero for the next launch, and is not";
  return false;
}

bool Workspace::download(std::vector<unsigned char> &bytes,
                         std::string &error) {
  bytes.resize(size);
  return gpu.download(bytes.data(), buffer.get(), bytes.size()) ||
         failed(gpu, error);
}
