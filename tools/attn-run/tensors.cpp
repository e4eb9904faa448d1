// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tensors.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace attn;
using namespace attn::run;
using runtime::LaunchPlan;
using runtime::PlanArg;
using runtime::Role;

const HostTensor *attn::run::findTensor(const std::vector<HostTensor> &tensors,
                                        const std::string &name) {
  for (const HostTensor &tensor : tensors) {
    if (tensor.name == name) {
      return &tensor;
    }
  }
  return nullptr;
}

const HostTensor *attn::run::findTensor(const std::vector<HostTensor> &tensors,
                                        Role role) {
  for (const HostTensor &tensor : tensors) {
    if (tensor.role == role) {
      return &tensor;
    }
  }
  return nullptr;
}

bool attn::run::knownShape(std::optional<Role> role, const Problem &p,
                           std::vector<int64_t> &shape) {
  if (!role) {
    return false;
  }
  switch (*role) {
  case Role::Query:
    shape = {p.batch, p.seqQ, p.headsQ, p.dim};
    break;
  case Role::Key:
    shape = {p.batch, p.seqK, p.headsK, p.dim};
    break;
  case Role::Value:
    shape = {p.batch, p.seqK, p.headsK, p.dimV};
    break;
  case Role::Output:
  case Role::OutputGradient:
    shape = {p.batch, p.seqQ, p.headsQ, p.dimV};
    break;
  case Role::QueryGradient:
    return knownShape(Role::Query, p, shape);
  case Role::KeyGradient:
    return knownShape(Role::Key, p, shape);
  case Role::ValueGradient:
    return knownShape(Role::Value, p, shape);
  case Role::Delta:
  case Role::Lse2:
  case Role::Turns:
    shape = {p.batch, p.headsQ, p.statisticRows};
    return true;
  case Role::Lse:
  case Role::LseGradient:
    shape = {p.batch, p.headsQ, p.seqQ};
    return true;
  case Role::QueryGradientSums:
    shape = {p.batch, p.headsQ, p.statisticRows, p.dim};
    return true;
  case Role::DropoutState:
    shape = {2};
    return true;
  case Role::Sinks:
    shape = {p.headsQ};
    return true;
  case Role::Scale:
  case Role::DropoutRate:
  case Role::Bound:
  case Role::Capture:
  case Role::PartialSums:
  case Role::CaptureGradient:
  case Role::SeeingQueries:
    return false;
  }
  if (p.headsFirst) {
    std::swap(shape[1], shape[2]);
  }
  return true;
}

/// Returns padding, in elements, that preserves the alignment of rows for TMA.
static int64_t paddingOf(const PlanArg &arg, const Problem &problem) {
  if (!problem.padStrides || arg.dims.size() < 2) {
    return 0;
  }
  return arg.alignedRows || arg.dims.size() == 4
             ? 16 / runtime::sizeOf(arg.dtype)
             : 3;
}

/// Sets elements by number. The elements of broadcast batches are the same
/// memory: they are set once, by one thread.
template <typename Value>
static void fillFloats(const Value &value, HostTensor &tensor) {
  if (tensor.strides[0] != 0 || tensor.shape[0] == 0) {
    tensor.fill(value);
    return;
  }
  int64_t count = tensor.elementCount() / tensor.shape[0];
  for (int64_t i = 0; i < count; ++i) {
    tensor.set(i, value(i));
  }
}

/// Fills Q, K or V: standard normal elements, or those of the pattern.
static void fillNormal(const Random &random, const Problem &problem,
                       HostTensor &tensor) {
  int64_t columns = tensor.shape[3], length = tensor.shape[1];
  int64_t row = tensor.shape[2] * columns; // of one position
  fillFloats(
      [&](int64_t i) {
        return patternElement(problem, *tensor.role, i / row % length,
                              i % columns, random.normal(uint64_t(i)));
      },
      tensor);
}

/// Fills a result of a forward pass, or the gradient of one: normal elements,
/// and an LSE of rows with keys and some without.
static void fillResult(const Random &random, HostTensor &tensor) {
  bool isLse = tensor.role == Role::Lse;
  fillFloats(
      [&](int64_t i) {
        bool isEmpty = isLse && random.uniform(2 * uint64_t(i)) < 0.1;
        return isEmpty ? -INFINITY
                       : (isLse ? 4 : 1) * random.normal(uint64_t(i));
      },
      tensor);
}

/// Fills the state of dropout, or the sinks.
static void fillForRole(const Problem &problem, HostTensor &tensor) {
  if (tensor.role == Role::DropoutState) {
    for (int64_t word : {0, 1}) {
      uint64_t bits = problem.dropout.getState()[size_t(word)];
      std::memcpy(tensor.at(word), &bits, sizeof(bits));
    }
    return;
  }
  for (int64_t head = 0; head < tensor.shape[0]; ++head) {
    tensor.set(head, double(problem.sinks[size_t(head)]));
  }
}

double attn::run::mostTensorBytes() {
  return double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / 2;
}

/// Adds the size of `tensor` to `bytes`. Returns false if that exceeds the
/// limit for all tensors.
static bool fitsMemory(const HostTensor &tensor, int64_t padding, double &bytes,
                       std::string &err) {
  double elements = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    elements = elements * double(tensor.shape[i]) + double(padding);
  }
  bytes += elements * runtime::sizeOf(tensor.dtype);
  double most = mostTensorBytes();
  if (bytes <= most) {
    return true;
  }
  char text[160];
  std::snprintf(text, sizeof(text),
                "expected the tensors to take at most %.0f bytes, half of this "
                "machine's memory, got %.3g with '%s'",
                most, bytes, tensor.name.c_str());
  err = text;
  return false;
}

bool attn::run::makeTensors(const LaunchPlan &plan, const Problem &problem,
                            std::vector<HostTensor> &tensors,
                            std::string &err) {
  tensors.clear();
  double bytes = 0;
  for (size_t number = 0; number < plan.args.size(); ++number) {
    const PlanArg &arg = plan.args[number];
    if (!arg.isTensor()) {
      continue;
    }
    HostTensor tensor;
    tensor.name = arg.name;
    tensor.role = arg.role;
    tensor.dtype = arg.dtype;
    tensor.isOutput = arg.access != runtime::Access::Read;
    tensor.isAccumulated = arg.access == runtime::Access::ReadWrite;
    if (arg.role == Role::CaptureGradient) {
      // A number, or the scale, has one element.
      const HostTensor *capture = findTensor(tensors, arg.name.substr(1));
      tensor.shape = capture ? capture->shape : std::vector<int64_t>{1};
    } else if (!knownShape(arg.role, problem, tensor.shape) &&
               !captureShape(plan, int(number), problem, tensor.shape, err)) {
      return false;
    }
    bool broadcast = problem.broadcastKv &&
                     (arg.role == Role::Key || arg.role == Role::Value);
    int64_t padding = paddingOf(arg, problem);
    if (!fitsMemory(tensor, padding, bytes, err)) {
      return false;
    }
    tensor.layOut(padding, broadcast ? 0 : -1);
    tensor.allocate();
    uint64_t stream = tensors.size();
    if (arg.role == Role::Capture) {
      if (!fillCapture(problem, stream, tensor, err)) {
        return false;
      }
    } else if (arg.role == Role::DropoutState || arg.role == Role::Sinks) {
      fillForRole(problem, tensor);
    } else if (!tensor.isOutput && arg.role && *arg.role >= Role::Output) {
      fillResult(Random(problem.seed, stream), tensor);
    } else if (!tensor.isOutput) {
      fillNormal(Random(problem.seed, stream), problem, tensor);
    }
    tensors.push_back(std::move(tensor));
  }
  return true;
}
