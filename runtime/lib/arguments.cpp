// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument rules. Each message names the argument, the rule and both
// values.

#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attn::runtime;

namespace {

/// Alignment of addresses and strides that TMA requires, in bytes.
constexpr int64_t kTensorMapAlignment = 16;

/// The argument that gave each symbol its value, for the message of a mismatch.
struct Origin {
  int arg = -1;
  int dim = -1;
};

/// The strides of one tensor argument, in elements.
struct Strides {
  int rank = 0;
  bool empty = false;
  int64_t sizes[kMaxTensorRank];
  int64_t values[kMaxTensorRank];

  /// Whether the stride of `dim` is ever used.
  bool matters(int dim) const { return !empty && sizes[dim] > 1; }
};

class Binder {
public:
  Binder(const LaunchPlan &plan, const CallValues &values,
         BoundArguments &bound)
      : plan(plan), values(values), bound(bound), origins(plan.symbols.size()) {
  }

  Status bindTensor(int index);
  Status bindScalar(int index);
  Status runChecks();

private:
  Status checkKind(const PlanArg &arg, const DLTensor &tensor);
  Status bindDims(int index, const DLTensor &tensor);
  Status checkPointer(const PlanArg &arg, const DLTensor &tensor,
                      BoundTensor &out);
  Status checkStrides(const PlanArg &arg, const Strides &strides);
  Status checkStrideZero(const PlanArg &arg, int dim);
  Status checkReach(const PlanArg &arg, const Strides &strides, int64_t &bytes);
  Status checkOverlap(const PlanArg &arg, const Strides &strides);
  bool isBatchOrHead(const PlanArg &arg, int dim) const;
  std::string messageOf(const PlanCheck &check) const;

  const LaunchPlan &plan;
  const CallValues &values;
  BoundArguments &bound;
  std::vector<Origin> origins;
};

std::string dimName(const PlanArg &arg, int dim) {
  return "dim " + std::to_string(dim) + " of " + quote(arg.name);
}

Status expected(const std::string &what, const std::string &want,
                const std::string &got) {
  return invalidArgument("expected " + what + " to be " + want + ", got " +
                         got);
}

Status expected(const std::string &what, const std::string &want, int64_t got) {
  return expected(what, want, std::to_string(got));
}

/// "(2, 7, 128)".
std::string list(const int64_t *values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  }
  return "(" + text + ")";
}

std::string describeNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

std::string describeDevice(DLDevice device) {
  std::string type =
      device.device_type == kDLCUDA ? "cuda"
      : device.device_type == kDLCPU
          ? "cpu"
          : "device type " + std::to_string(int(device.device_type));
  return type + ":" + std::to_string(device.device_id);
}

/// Returns the strides of `tensor`. Strides that do not matter get the packed
/// value, rounded up for TMA, since expressions use them like any other.
Strides readStrides(const PlanArg &arg, const DLTensor &tensor) {
  Strides strides;
  strides.rank = tensor.ndim;
  std::copy(tensor.shape, tensor.shape + tensor.ndim, strides.sizes);
  for (int i = 0; i < strides.rank; ++i) {
    strides.empty |= strides.sizes[i] == 0;
  }
  int64_t unit = std::max<int64_t>(1, kTensorMapAlignment / sizeOf(arg.dtype));
  int64_t packed = 1;
  for (int i = strides.rank - 1; i >= 0; --i) {
    if (tensor.strides && strides.matters(i)) {
      strides.values[i] = tensor.strides[i];
    } else {
      bool round = arg.alignedRows && !strides.matters(i) && packed > 1;
      strides.values[i] = round ? (packed + unit - 1) / unit * unit : packed;
    }
    // Saturates: an absurd extent is refused by the rule on the reach of a
    // tensor.
    if (__builtin_mul_overflow(packed, std::max<int64_t>(1, strides.sizes[i]),
                               &packed)) {
      packed = INT64_MAX / 64;
    }
  }
  return strides;
}

} // namespace

int64_t attn::runtime::addressAlignment(const PlanArg &arg) {
  return arg.alignedRows ? kTensorMapAlignment : sizeOf(arg.dtype);
}

bool attn::runtime::locate(const DLTensor &tensor, int64_t bytes, char *&data) {
  uint64_t first = 0, end = 0;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data),
                             tensor.byte_offset, &first) ||
      __builtin_add_overflow(first, uint64_t(bytes), &end) ||
      end > uint64_t(INT64_MAX)) {
    return false;
  }
  data = reinterpret_cast<char *>(first);
  return true;
}

Status Binder::checkKind(const PlanArg &arg, const DLTensor &tensor) {
  if (tensor.ndim != int(arg.dims.size())) {
    return expected("the rank of " + quote(arg.name),
                    std::to_string(arg.dims.size()), tensor.ndim);
  }
  if (!sameType(tensor.dtype, toDLPack(arg.dtype))) {
    return expected("the element type of " + quote(arg.name), nameOf(arg.dtype),
                    describe(tensor.dtype));
  }
  if (tensor.device.device_type != values.device.device_type ||
      tensor.device.device_id != values.device.device_id) {
    return expected("the device of " + quote(arg.name),
                    describeDevice(values.device),
                    describeDevice(tensor.device));
  }
  if (!tensor.shape) {
    return expected("the shape of " + quote(arg.name), "an array", "null");
  }
  return {};
}

Status Binder::bindDims(int index, const DLTensor &tensor) {
  const PlanArg &arg = plan.args[index];
  for (int i = 0; i < tensor.ndim; ++i) {
    const PlanDim &dim = arg.dims[i];
    int64_t size = tensor.shape[i];
    if (size < 0) {
      return expected(dimName(arg, i), "at least 0", size);
    }
    if (!dim.isSymbol) {
      if (size != dim.value) {
        return expected(dimName(arg, i), std::to_string(dim.value), size);
      }
      continue;
    }
    int symbol = int(dim.value);
    if (!bound.symbols.isBound(symbol)) {
      bound.symbols.bind(symbol, size);
      origins[symbol] = {index, i};
    } else if (bound.symbols.get(symbol) != size) {
      const Origin &first = origins[symbol];
      std::string want = std::to_string(bound.symbols.get(symbol));
      if (first.arg >= 0) {
        want += " like " + dimName(plan.args[first.arg], first.dim);
      }
      return expected(dimName(arg, i), want, size);
    }
  }
  return {};
}

Status Binder::checkPointer(const PlanArg &arg, const DLTensor &tensor,
                            BoundTensor &out) {
  if (out.bytes == 0) {
    return {};
  }
  if (!tensor.data) {
    return expected("the data of " + quote(arg.name), "a device address",
                    "null");
  }
  if (!locate(tensor, out.bytes, out.data)) {
    return expected(
        "the end of " + quote(arg.name), "an address below 2^63",
        "byte_offset " + std::to_string(tensor.byte_offset) + " and " +
            std::to_string(out.bytes) + " bytes from address " +
            std::to_string(reinterpret_cast<uintptr_t>(tensor.data)));
  }
  int64_t alignment = addressAlignment(arg);
  int64_t misaligned =
      int64_t(reinterpret_cast<uintptr_t>(out.data) % uint64_t(alignment));
  if (misaligned != 0) {
    return expected("the address of " + quote(arg.name),
                    "a multiple of " + std::to_string(alignment) + " bytes",
                    std::to_string(misaligned) + " bytes past one");
  }
  return {};
}

/// Whether a dim is the batch or the heads: two dims of a tensor of rank 4, by
/// the layout, and any dim with the symbol of one of those.
bool Binder::isBatchOrHead(const PlanArg &arg, int dim) const {
  int heads = plan.problem.getHeadsDim();
  if (arg.dims.size() == 4) {
    return dim == 0 || dim == heads;
  }
  if (!arg.dims[dim].isSymbol) {
    return false;
  }
  for (const PlanArg &other : plan.args) {
    if (other.dims.size() != 4) {
      continue;
    }
    for (int i : {0, heads}) {
      if (other.dims[i].isSymbol &&
          other.dims[i].value == arg.dims[dim].value) {
        return true;
      }
    }
  }
  return false;
}

Status Binder::checkStrideZero(const PlanArg &arg, int dim) {
  std::string what = "the stride of " + dimName(arg, dim);
  if (arg.access != Access::Read) {
    return expected(what, "greater than 0 since it is written", "0");
  }
  if (!isBatchOrHead(arg, dim)) {
    return expected(what, "greater than 0 since it is no batch or head dim",
                    "0");
  }
  return {};
}

Status Binder::checkStrides(const PlanArg &arg, const Strides &strides) {
  int last = strides.rank - 1;
  if (strides.matters(last) && strides.values[last] != 1) {
    return expected("the stride of " + dimName(arg, last),
                    "1 since the last dim has to be contiguous",
                    strides.values[last]);
  }
  for (int i = 0; i < last; ++i) {
    if (!strides.matters(i)) {
      continue;
    }
    int64_t stride = strides.values[i];
    if (stride < 0) {
      return expected("the stride of " + dimName(arg, i), "at least 0", stride);
    }
    if (stride == 0) {
      if (Status status = checkStrideZero(arg, i)) {
        return status;
      }
    }
    int64_t unit = kTensorMapAlignment / sizeOf(arg.dtype);
    if (arg.alignedRows && unit > 1 && stride % unit != 0) {
      return expected("the stride of " + dimName(arg, i),
                      "a multiple of 16 bytes (" + std::to_string(unit) +
                          " elements)",
                      std::to_string(stride) + " elements");
    }
  }
  return {};
}

/// Checks that byte offsets fit 64 bits, so that no later computation
/// overflows.
Status Binder::checkReach(const PlanArg &arg, const Strides &strides,
                          int64_t &bytes) {
  int64_t reach = strides.empty ? 0 : sizeOf(arg.dtype);
  for (int i = 0; i < strides.rank && !strides.empty; ++i) {
    int64_t span = 0;
    if (__builtin_mul_overflow(strides.sizes[i] - 1, strides.values[i],
                               &span) ||
        __builtin_mul_overflow(span, sizeOf(arg.dtype), &span) ||
        __builtin_add_overflow(reach, span, &reach)) {
      return expected(
          "the extent of " + quote(arg.name), "less than 2^63 bytes",
          "shape " + list(strides.sizes, strides.rank) + " with strides " +
              list(strides.values, strides.rank));
    }
  }
  bytes = reach;
  return {};
}

/// Checks that written elements are distinct: with the dims sorted by stride,
/// each stride must step over everything that the smaller ones reach.
Status Binder::checkOverlap(const PlanArg &arg, const Strides &strides) {
  if (arg.access == Access::Read) {
    return {};
  }
  int order[kMaxTensorRank];
  int count = 0;
  for (int i = 0; i < strides.rank; ++i) {
    if (strides.matters(i)) {
      order[count++] = i;
    }
  }
  std::sort(order, order + count, [&](int a, int b) {
    return strides.values[a] < strides.values[b];
  });
  int64_t covered = 1;
  for (int i = 0; i < count; ++i) {
    int dim = order[i];
    if (strides.values[dim] < covered) {
      return expected("the stride of " + dimName(arg, dim),
                      "at least " + std::to_string(covered) +
                          " since it is written and must not overlap",
                      strides.values[dim]);
    }
    covered += (strides.sizes[dim] - 1) * strides.values[dim];
  }
  return {};
}

Status Binder::bindTensor(int index) {
  const PlanArg &arg = plan.args[index];
  const DLTensor *tensor = values.tensors[index];
  if (!tensor) {
    return expected("argument " + quote(arg.name), "a tensor", "null");
  }
  if (Status status = checkKind(arg, *tensor)) {
    return status;
  }
  if (Status status = bindDims(index, *tensor)) {
    return status;
  }
  Strides strides = readStrides(arg, *tensor);
  if (Status status = checkStrides(arg, strides)) {
    return status;
  }
  if (Status status = checkReach(arg, strides, bound.tensors[index].bytes)) {
    return status;
  }
  if (Status status = checkPointer(arg, *tensor, bound.tensors[index])) {
    return status;
  }
  if (Status status = checkOverlap(arg, strides)) {
    return status;
  }
  for (int i = 0; i < strides.rank; ++i) {
    bound.symbols.bind(arg.firstStrideSymbol + i, strides.values[i]);
  }
  return {};
}

Status Binder::bindScalar(int index) {
  const PlanArg &arg = plan.args[index];
  double value = values.scalars[index];
  if (arg.kind == ArgKind::F32) {
    float narrow = float(value);
    if (arg.isBounded && !(narrow >= arg.least && narrow <= arg.most)) {
      return expected(quote(arg.name),
                      "from " + describeNumber(arg.least) + " to " +
                          describeNumber(arg.most) + " as f32",
                      describeNumber(value));
    }
    bound.floats[index] = narrow;
    return {};
  }
  double limit = arg.kind == ArgKind::I32 ? 2147483648.0 : 9007199254740992.0;
  if (!(value >= -limit && value < limit && value == std::floor(value))) {
    return expected(quote(arg.name),
                    arg.kind == ArgKind::I32 ? "a 32-bit integer"
                                             : "an integer below 2^53",
                    describeNumber(value));
  }
  // A tensor's dimension may have the same symbol as the number, and has then
  // bound it already.
  if (bound.symbols.isBound(arg.symbol) &&
      bound.symbols.get(arg.symbol) != int64_t(value)) {
    return expected(quote(arg.name),
                    std::to_string(bound.symbols.get(arg.symbol)) +
                        ", the size of that name",
                    describeNumber(value));
  }
  bound.symbols.bind(arg.symbol, int64_t(value));
  return {};
}

std::string Binder::messageOf(const PlanCheck &check) const {
  std::string text;
  for (const MessagePart &part : check.message) {
    text += part.symbol < 0 ? part.text
            : bound.symbols.isBound(part.symbol)
                ? std::to_string(bound.symbols.get(part.symbol))
                : quote(plan.symbols.getName(part.symbol));
  }
  return text;
}

Status Binder::runChecks() {
  for (const PlanCheck &check : plan.checks) {
    int64_t value = 0;
    if (Status status =
            check.expr.evaluate(plan.symbols, bound.symbols, value)) {
      return invalidArgument(messageOf(check) + " (" + status.getMessage() +
                             ")");
    }
    if (value != check.equals) {
      return invalidArgument(messageOf(check));
    }
  }
  return {};
}

Status attn::runtime::bindValues(const LaunchPlan &plan,
                                 const std::vector<PlanValue> &values,
                                 BoundArguments &bound) {
  for (const PlanValue &each : values) {
    int64_t value = 0;
    if (Status status =
            each.expr.evaluate(plan.symbols, bound.symbols, value)) {
      return status;
    }
    bound.symbols.bind(each.symbol, value);
  }
  return {};
}

/// Binds the strides of a temporary, in elements, and computes its size.
static Status bindTemporary(const LaunchPlan &plan,
                            const PlanTemporary &temporary,
                            BoundArguments &bound, int64_t &bytes) {
  int64_t elementBytes = sizeOf(temporary.dtype);
  int64_t unit = std::max<int64_t>(1, kTensorMapAlignment / elementBytes);
  int64_t stride = 1;
  int last = int(temporary.dims.size()) - 1;
  for (int i = last; i >= 0; --i) {
    bound.symbols.bind(temporary.firstStrideSymbol + i, stride);
    int64_t size = 0;
    if (Status status =
            temporary.dims[i].evaluate(plan.symbols, bound.symbols, size)) {
      return status;
    }
    if (size < 0) {
      return expected("dim " + std::to_string(i) + " of temporary " +
                          quote(temporary.name),
                      "at least 0", size);
    }
    if (__builtin_mul_overflow(stride, size, &stride) ||
        stride > INT64_MAX / 2 / elementBytes) {
      return expected("the extent of temporary " + quote(temporary.name),
                      "less than 2^62 bytes",
                      "dim " + std::to_string(i) + " of size " +
                          std::to_string(size));
    }
    stride = i == last ? (stride + unit - 1) / unit * unit : stride;
  }
  bytes = stride * elementBytes;
  return {};
}

Status attn::runtime::bindArguments(const LaunchPlan &plan,
                                    const CallValues &values,
                                    int64_t multiprocessors,
                                    BoundArguments &bound) {
  Binder binder(plan, values, bound);
  if (plan.smCountSymbol >= 0) {
    bound.symbols.bind(plan.smCountSymbol, multiprocessors);
  }
  for (size_t i = 0; i < plan.args.size(); ++i) {
    Status status = plan.args[i].isTensor() ? binder.bindTensor(int(i))
                                            : binder.bindScalar(int(i));
    if (status) {
      return status;
    }
  }
  if (Status status = bindValues(plan, plan.values, bound)) {
    return status;
  }
  for (size_t i = 0; i < plan.temporaries.size(); ++i) {
    if (Status status = bindTemporary(plan, plan.temporaries[i], bound,
                                      bound.temporaryBytes[i])) {
      return status;
    }
  }
  return binder.runChecks();
}
