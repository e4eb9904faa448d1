// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "device_tensors.h"

#include <algorithm>

using namespace attn;
using namespace attn::run;

static bool failed(const Gpu &gpu, std::string &error) {
  error = gpu.getError();
  return false;
}

/// Points one DLTensor at every tensor's first element on the GPU.
void DeviceTensors::describe() {
  for (size_t i = 0; i < tensors.size(); ++i) {
    HostTensor &tensor = tensors[i];
    DLTensor view = {};
    // A framework's empty tensor has no memory.
    if (tensor.elementCount() > 0) {
      view.data = reinterpret_cast<void *>(buffers[i].get());
      view.byte_offset = kGuardBytes;
    }
    view.device = gpu.getDevice();
    view.ndim = int32_t(tensor.shape.size());
    view.dtype = runtime::toDLPack(tensor.dtype);
    view.shape = tensor.shape.data();
    view.strides = tensor.strides.data();
    described.push_back(view);
  }
  for (const DLTensor &view : described) {
    views.push_back(&view);
  }
}

bool DeviceTensors::upload(std::string &error) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!gpu.upload(buffers[i].get(), tensors[i].bytes.data(),
                    tensors[i].bytes.size())) {
      return failed(gpu, error);
    }
  }
  return true;
}

bool DeviceTensors::make(const runtime::LaunchPlan &plan,
                         const Problem &problem, std::string &error) {
  if (!makeTensors(plan, problem, tensors, error)) {
    return false;
  }
  for (const HostTensor &tensor : tensors) {
    buffers.emplace_back();
    if (!buffers.back().allocate(gpu, tensor.bytes.size())) {
      return failed(gpu, error);
    }
  }
  if (!upload(error)) {
    return false;
  }
  describe();
  return true;
}

bool DeviceTensors::poisonOutputs(std::string &error) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].isOutput) {
      continue;
    }
    HostTensor blank = tensors[i];
    std::fill(blank.bytes.begin(), blank.bytes.end(), kPoison);
    if (blank.isAccumulated) {
      blank.fill([](int64_t) { return 0; });
    }
    if (!gpu.upload(buffers[i].get(), blank.bytes.data(), blank.bytes.size())) {
      return failed(gpu, error);
    }
  }
  return true;
}

bool DeviceTensors::download(size_t index, std::vector<unsigned char> &bytes,
                             std::string &error) {
  bytes.resize(tensors[index].bytes.size());
  return gpu.download(bytes.data(), buffers[index].get(), bytes.size()) ||
         failed(gpu, error);
}

bool DeviceTensors::checkGuards(std::string &error) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const HostTensor &tensor = tensors[i];
    if (tensor.isOutput) {
      std::string problemText = tensor.checkPoison();
      if (!problemText.empty()) {
        error = "guard: " + problemText;
        return false;
      }
      continue;
    }
    std::vector<unsigned char> now;
    if (!download(i, now, error)) {
      return false;
    }
    auto at = std::mismatch(now.begin(), now.end(), tensor.bytes.begin());
    if (at.first != now.end()) {
      int64_t byte = at.first - now.begin() - int64_t(kGuardBytes);
      error = "guard: byte " + std::to_string(byte) + " of input '" +
              tensor.name + "' was written";
      return false;
    }
  }
  return true;
}
