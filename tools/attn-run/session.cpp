// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "session.h"

#include <algorithm>

using namespace attn;
using namespace attn::run;

bool Session::fail(const std::string &message) {
  error = message;
  return false;
}

bool Session::failGpu() { return fail(gpu.getError()); }

/// Points one DLTensor at every tensor's first element on the GPU.
void Session::describeTensors() {
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
    views.push_back(view);
  }
  for (const DLTensor &view : views) {
    viewPointers.push_back(&view);
  }
}

bool Session::allocateWorkspace() {
  size_t bytes = 0;
  if (!gpu.workspaceSize(bundle, args, bytes)) {
    return failGpu();
  }
  if (bytes == 0) {
    return true;
  }
  if (!workspace.allocate(gpu, bytes)) {
    return failGpu();
  }
  args.workspace = reinterpret_cast<void *>(workspace.get());
  args.workspace_size = bytes;
  args.flags = ATTN_LAUNCH_WORKSPACE_READY;
  return clearWorkspace();
}

bool Session::clearWorkspace() {
  std::vector<unsigned char> zeros(args.workspace_size);
  return zeros.empty() ||
         gpu.upload(workspace.get(), zeros.data(), zeros.size()) || failGpu();
}

bool Session::uploadTensors() {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!gpu.upload(buffers[i].get(), tensors[i].bytes.data(),
                    tensors[i].bytes.size())) {
      return failGpu();
    }
  }
  return true;
}

bool Session::prepare() {
  for (const char *name : {"q", "k", "v", "o"}) {
    if (plan.findArg(name) < 0) {
      return fail(std::string("expected the plan to have argument '") + name +
                  "'");
    }
  }
  if (!makeTensors(plan, problem, tensors, error)) {
    return false;
  }
  for (const HostTensor &tensor : tensors) {
    buffers.emplace_back();
    if (!buffers.back().allocate(gpu, tensor.bytes.size())) {
      return failGpu();
    }
  }
  if (!uploadTensors()) {
    return false;
  }
  describeTensors();
  for (const runtime::PlanArg &arg : plan.args) {
    if (arg.isTensor()) {
      continue;
    }
    if (arg.name == "scale") {
      scalars.push_back(double(problem.scale));
    } else if (arg.name == "window_left") {
      scalars.push_back(double(problem.windowLeft));
    } else if (arg.name == "window_right") {
      scalars.push_back(double(problem.windowRight));
    } else if (problem.captures.scalars.count(arg.name)) {
      scalars.push_back(problem.captures.scalars.at(arg.name));
    } else {
      return fail("cannot tell the value of scalar '" + arg.name + "'");
    }
  }
  args.size = sizeof(args);
  args.num_tensors = viewPointers.size();
  args.tensors = viewPointers.data();
  args.num_scalars = scalars.size();
  args.scalars = scalars.data();
  args.device = gpu.getDevice();
  args.stream = gpu.getStream();
  return (gpu.chooseVariant(bundle, args, variant) || failGpu()) &&
         allocateWorkspace();
}

bool Session::restart(attn_bundle *other) {
  bundle = other;
  return uploadTensors() && clearWorkspace();
}

bool Session::launch() { return gpu.launch(bundle, args) || failGpu(); }

bool Session::finish() {
  if (gpu.finish(timeout)) {
    return true;
  }
  gpuLost = true;
  return failGpu();
}

bool Session::poisonOutputs() {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].isOutput) {
      continue;
    }
    std::vector<unsigned char> poison(tensors[i].bytes.size(), kPoison);
    if (!gpu.upload(buffers[i].get(), poison.data(), poison.size())) {
      return failGpu();
    }
  }
  return true;
}

bool Session::download(const HostTensor &like, size_t index,
                       std::vector<unsigned char> &bytes) {
  bytes.resize(like.bytes.size());
  return gpu.download(bytes.data(), buffers[index].get(), bytes.size()) ||
         failGpu();
}

bool Session::launchAndDownload() {
  if (!poisonOutputs() || !launch() || !finish()) {
    return false;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].isOutput && !download(tensors[i], i, tensors[i].bytes)) {
      return false;
    }
  }
  return true;
}

bool Session::downloadWorkspace(std::vector<unsigned char> &bytes) {
  bytes.resize(args.workspace_size);
  return gpu.download(bytes.data(), workspace.get(), bytes.size()) || failGpu();
}

bool Session::checkGuards() {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const HostTensor &tensor = tensors[i];
    if (tensor.isOutput) {
      std::string problemText = tensor.checkPoison();
      if (!problemText.empty()) {
        return fail("guard: " + problemText);
      }
      continue;
    }
    std::vector<unsigned char> now;
    if (!download(tensor, i, now)) {
      return false;
    }
    auto at = std::mismatch(now.begin(), now.end(), tensor.bytes.begin());
    if (at.first != now.end()) {
      int64_t byte = at.first - now.begin() - int64_t(kGuardBytes);
      return fail("guard: byte " + std::to_string(byte) + " of input '" +
                  tensor.name + "' was written");
    }
  }
  return true;
}

bool Session::repeat(int64_t count) {
  std::vector<unsigned char> now;
  for (int64_t n = 0; n < count; ++n) {
    if (!poisonOutputs() || !launch() || !finish()) {
      return false;
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].isOutput) {
        continue;
      }
      if (!download(tensors[i], i, now)) {
        return false;
      }
      if (now != tensors[i].bytes) {
        return fail("repeat: '" + tensors[i].name + "' of launch " +
                    std::to_string(n + 1) + " differs from the first");
      }
    }
  }
  return true;
}

CheckResult Session::check() const {
  return checkOutputs(referenceInputs(), *findTensor(tensors, "o"),
                      findTensor(tensors, "lse"));
}

/// Appends the times of the second half of `count` launches: in the first half
/// the clock settles to this kernel's power.
bool Session::timeSlice(size_t count, std::vector<double> &times) {
  for (size_t i = 0; i < count; ++i) {
    if (!gpu.record(2 * i)) {
      return failGpu();
    }
    if (!launch()) {
      return false;
    }
    if (!gpu.record(2 * i + 1)) {
      return failGpu();
    }
  }
  if (!finish()) {
    return false;
  }
  for (size_t i = count / 2; i < count; ++i) {
    double time = 0;
    if (!gpu.elapsed(2 * i, 2 * i + 1, time)) {
      return failGpu();
    }
    times.push_back(time);
  }
  return true;
}

bool Session::measure(int64_t rounds, double &milliseconds) {
  constexpr double sliceMilliseconds = 80;
  constexpr size_t mostLaunches = 4000;
  if (!gpu.reserveEvents(2 * mostLaunches)) {
    return failGpu();
  }
  std::vector<double> times;
  if (!timeSlice(4, times)) {
    return false;
  }
  double one = std::max(times.back(), 1e-3);
  size_t count =
      size_t(std::clamp(sliceMilliseconds / one, 4.0, double(mostLaunches)));
  times.clear();
  for (int64_t round = 0; round < rounds; ++round) {
    if (!timeSlice(count, times)) {
      return false;
    }
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  milliseconds = times[times.size() / 2];
  return true;
}
