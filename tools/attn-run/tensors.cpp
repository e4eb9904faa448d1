// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tensors.h"

#include <cmath>
#include <cstdio>
#include <unistd.h>

using namespace attn;
using namespace attn::run;
using runtime::DataType;
using runtime::LaunchPlan;
using runtime::PlanArg;

const HostTensor *attn::run::findTensor(const std::vector<HostTensor> &tensors,
                                        const std::string &name) {
  for (const HostTensor &tensor : tensors) {
    if (tensor.name == name) {
      return &tensor;
    }
  }
  return nullptr;
}

float attn::run::alibiSlope(int64_t head, int64_t heads) {
  return float(std::exp2(-8.0 * double(head + 1) / double(heads)));
}

std::vector<int32_t> attn::run::documentIds(uint64_t seed, int64_t batch,
                                            int64_t length) {
  Random random(seed, 2000 + uint64_t(batch));
  // About five documents a batch.
  double change = 4.0 / double(length > 4 ? length : 4);
  std::vector<int32_t> ids(static_cast<size_t>(length));
  for (int64_t i = 1; i < length; ++i) {
    bool next = random.uniform(uint64_t(i)) < change;
    ids[size_t(i)] = ids[size_t(i) - 1] + next;
  }
  return ids;
}

/// The shape of the argument if it is one that every plan has.
static bool knownShape(const std::string &name, const Problem &p,
                       std::vector<int64_t> &shape) {
  if (name == "lse") {
    shape = {p.batch, p.headsQ, p.seqQ};
    return true;
  }
  bool query = name == "q" || name == "o";
  if (!query && name != "k" && name != "v") {
    return false;
  }
  int64_t dim = name == "q" || name == "k" ? p.dim : p.dimV;
  shape = query ? std::vector<int64_t>{p.batch, p.seqQ, p.headsQ, dim}
                : std::vector<int64_t>{p.batch, p.seqK, p.headsK, dim};
  if (p.headsFirst) {
    std::swap(shape[1], shape[2]);
  }
  return true;
}

/// The extent that a dim of a known tensor gives symbol `symbol`.
static bool extentOf(const LaunchPlan &plan, const Problem &problem,
                     int64_t symbol, int64_t &extent) {
  for (const PlanArg &arg : plan.args) {
    std::vector<int64_t> shape;
    if (!arg.isTensor() || !knownShape(arg.name, problem, shape) ||
        shape.size() != arg.dims.size()) {
      continue;
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      if (arg.dims[i].isSymbol && arg.dims[i].value == symbol) {
        extent = shape[i];
        return true;
      }
    }
  }
  return false;
}

static bool isSlopes(const PlanArg &arg, const Problem &problem) {
  return problem.alibi && runtime::isFloat(arg.dtype) && arg.dims.size() == 1;
}

static bool isDocuments(const PlanArg &arg, const Problem &problem) {
  return problem.documents && !runtime::isFloat(arg.dtype) &&
         arg.dims.size() == 2;
}

/// The shape of what a region captures: its dims are those of the known
/// tensors, or new symbols whose extent the kind of capture tells.
static bool captureShape(const LaunchPlan &plan, const PlanArg &arg,
                         const Problem &problem, std::vector<int64_t> &shape,
                         std::string &err) {
  if (isSlopes(arg, problem)) {
    shape = {problem.headsQ};
    return true;
  }
  if (isDocuments(arg, problem)) {
    shape = {problem.batch, problem.documentLength()};
    return true;
  }
  for (const runtime::PlanDim &dim : arg.dims) {
    int64_t extent = dim.value;
    if (dim.isSymbol && !extentOf(plan, problem, dim.value, extent)) {
      err = "cannot tell the extent of '" +
            plan.symbols.getName(int(dim.value)) + "', a dim of '" + arg.name +
            "'";
      return false;
    }
    shape.push_back(extent);
  }
  return true;
}

/// The elements of padding that keep rows aligned for TMA where they are now.
static int64_t paddingOf(const PlanArg &arg, const Problem &problem) {
  if (!problem.padStrides || arg.dims.size() < 2) {
    return 0;
  }
  return arg.usedByTensorMap || arg.dims.size() == 4
             ? 16 / runtime::sizeOf(arg.dtype)
             : 3;
}

/// Elements by number. Broadcast batches are the same elements: they are set
/// once, and by one thread.
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

/// Standard normal elements; in Q, K and V those of the problem's pattern.
static void fillNormal(const Random &random, const Problem &problem,
                       HostTensor &tensor) {
  bool hasPattern =
      tensor.name == "q" || tensor.name == "k" || tensor.name == "v";
  if (!hasPattern) {
    fillFloats([&](int64_t i) { return random.normal(uint64_t(i)); }, tensor);
    return;
  }
  int64_t columns = tensor.shape[3], length = tensor.shape[1];
  int64_t row = tensor.shape[2] * columns; // of one position
  fillFloats(
      [&](int64_t i) {
        return patternElement(problem, tensor.name[0], i / row % length,
                              i % columns, random.normal(uint64_t(i)));
      },
      tensor);
}

static void fillTensor(const PlanArg &arg, const Problem &problem,
                       uint64_t stream, HostTensor &tensor) {
  if (tensor.isOutput) {
    return;
  }
  if (isSlopes(arg, problem)) {
    tensor.fill([&](int64_t i) { return alibiSlope(i, problem.headsQ); });
  } else if (isDocuments(arg, problem)) {
    int64_t length = problem.documentLength();
    for (int64_t b = 0; b < problem.batch; ++b) {
      std::vector<int32_t> ids = documentIds(problem.seed, b, length);
      for (int64_t i = 0; i < length; ++i) {
        tensor.set(b * length + i, ids[size_t(i)]);
      }
    }
  } else if (!runtime::isFloat(arg.dtype)) {
    tensor.fill([](int64_t) { return 0; });
  } else {
    fillNormal(Random(problem.seed, stream), problem, tensor);
  }
}

/// Adds what `tensor` takes to `bytes`. False if that is more than half of the
/// host's memory: a copy and the reference need the rest.
static bool fitsMemory(const HostTensor &tensor, int64_t padding, double &bytes,
                       std::string &err) {
  double elements = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    elements = elements * double(tensor.shape[i]) + double(padding);
  }
  bytes += elements * runtime::sizeOf(tensor.dtype);
  double most =
      double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / 2;
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
  for (const PlanArg &arg : plan.args) {
    if (!arg.isTensor()) {
      continue;
    }
    HostTensor tensor;
    tensor.name = arg.name;
    tensor.dtype = arg.dtype;
    tensor.isOutput = arg.access != runtime::Access::Read;
    if (!knownShape(arg.name, problem, tensor.shape) &&
        !captureShape(plan, arg, problem, tensor.shape, err)) {
      return false;
    }
    bool broadcast =
        problem.broadcastKv && (arg.name == "k" || arg.name == "v");
    int64_t padding = paddingOf(arg, problem);
    if (!fitsMemory(tensor, padding, bytes, err)) {
      return false;
    }
    tensor.layOut(padding, broadcast ? 0 : -1);
    tensor.allocate();
    fillTensor(arg, problem, tensors.size(), tensor);
    tensors.push_back(std::move(tensor));
  }
  return true;
}
