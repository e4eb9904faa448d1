// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prepared_launch.h"

#include <algorithm>
#include <cstring>

using namespace attn::runtime;

namespace {

/// The driver's limits on a tensor map.
constexpr int64_t kMaxMapSize = int64_t(1) << 32;
constexpr int64_t kMaxMapStride = int64_t(1) << 40;
constexpr int64_t kMapStrideAlignment = 16;

constexpr int64_t kMaxGrid[3] = {INT32_MAX, 65535, 65535};

Status outOfRange(const Expr &expr, const std::string &want, int64_t got) {
  return invalidArgument("plan: " + expr.getPath() + ": expected " + want +
                         ", got " + std::to_string(got));
}

/// Evaluates the expressions of one launch.
class Preparer {
public:
  Preparer(const LaunchPlan &plan, const BoundArguments &bound, void *workspace,
           const WorkspaceNeed &need)
      : plan(plan), bound(bound), workspace(workspace), need(need) {}

  Status prepareGrid(const PlanLaunch &launch, bool &skip, PreparedLaunch &out);
  Status prepareParam(const PlanParam &param, PreparedParam &out);

private:
  Status evaluate(const Expr &expr, int64_t &value) {
    return expr.evaluate(plan.symbols, bound.symbols, value);
  }
  Status prepareMap(const PlanParam &param, TensorMapRequest &map);
  Status prepareMapDim(const TensorMapDim &dim, int index,
                       TensorMapRequest &map);
  void *addressOf(int arg) const;

  const LaunchPlan &plan;
  const BoundArguments &bound;
  void *workspace;
  const WorkspaceNeed &need;
};

/// The stride to encode for a broadcast dim. The driver accepts 0 like any
/// other multiple of 16. If a driver did not, the dim's size would have to be
/// encoded as 1, and the kernel would have to send coordinate 0.
uint64_t encodedStride(int64_t bytes) { return uint64_t(bytes); }

} // namespace

/// A tensor without elements has no address, but the kernel needs one: any
/// valid address of this call will do, since data read through it is dropped.
void *Preparer::addressOf(int arg) const {
  size_t index = size_t(arg), args = plan.args.size();
  void *own = index < args ? bound.tensors[index].data
                           : temporaryAt(workspace, need, index - args);
  if (own) {
    return own;
  }
  for (const BoundTensor &other : bound.tensors) {
    if (other.data) {
      // The substitute may be less aligned than TMA requires.
      return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(other.data) &
                                      ~uintptr_t(kMapStrideAlignment - 1));
    }
  }
  return nullptr;
}

Status Preparer::prepareMapDim(const TensorMapDim &dim, int index,
                               TensorMapRequest &map) {
  int64_t size = 0;
  if (Status status = evaluate(dim.size, size)) {
    return status;
  }
  if (size < 0 || size > kMaxMapSize) {
    return outOfRange(dim.size, "a size from 0 to 2^32", size);
  }
  map.sizes[index] = size == 0 ? 1 : uint64_t(size);
  map.box[index] = uint32_t(dim.box);
  if (index == 0) {
    return {};
  }
  int64_t stride = 0;
  if (Status status = evaluate(dim.stride, stride)) {
    return status;
  }
  if (stride < 0 || stride >= kMaxMapStride ||
      stride % kMapStrideAlignment != 0) {
    return outOfRange(dim.stride, "a multiple of 16 bytes from 0 to below 2^40",
                      stride);
  }
  map.strides[index - 1] = encodedStride(stride);
  return {};
}

Status Preparer::prepareMap(const PlanParam &param, TensorMapRequest &map) {
  map.dtype = plan.typeOf(param.arg);
  map.rank = int(param.dims.size());
  map.address = addressOf(param.arg);
  map.swizzle = param.swizzle;
  map.l2Promotion = param.l2Promotion;
  for (int i = 0; i < map.rank; ++i) {
    if (Status status = prepareMapDim(param.dims[i], i, map)) {
      return status;
    }
  }
  return {};
}

Status Preparer::prepareParam(const PlanParam &param, PreparedParam &out) {
  out.kind = param.kind;
  switch (param.kind) {
  case ParamKind::TensorMap:
    return prepareMap(param, out.map);
  case ParamKind::Pointer:
    // A kernel may read element 0 of an empty input and drop the value.
    out.value = reinterpret_cast<uintptr_t>(addressOf(param.arg));
    return {};
  case ParamKind::Workspace:
    out.value = reinterpret_cast<uintptr_t>(workspace);
    return {};
  case ParamKind::F32: {
    uint32_t bits = 0;
    std::memcpy(&bits, &bound.floats[param.arg], sizeof(bits));
    out.value = bits;
    return {};
  }
  case ParamKind::I32:
  case ParamKind::I64:
    break;
  }
  int64_t value = 0;
  if (Status status = evaluate(param.expr, value)) {
    return status;
  }
  if (param.kind == ParamKind::I32 && value != int32_t(value)) {
    return outOfRange(param.expr, "a 32-bit integer", value);
  }
  out.value = uint64_t(value);
  return {};
}

Status Preparer::prepareGrid(const PlanLaunch &launch, bool &skip,
                             PreparedLaunch &out) {
  int64_t extents[3];
  skip = false;
  for (int i = 0; i < 3; ++i) {
    const Expr &extent = launch.grid[i];
    if (Status status = evaluate(extent, extents[i])) {
      return status;
    }
    if (extents[i] < 0 || extents[i] > kMaxGrid[i]) {
      return outOfRange(extent, "0 to " + std::to_string(kMaxGrid[i]),
                        extents[i]);
    }
    skip |= extents[i] == 0;
  }
  for (int i = 0; i < 3 && !skip; ++i) {
    if (extents[i] % launch.cluster[i] != 0) {
      return outOfRange(launch.grid[i],
                        "a multiple of the cluster's " +
                            std::to_string(launch.cluster[i]),
                        extents[i]);
    }
    out.grid[i] = unsigned(extents[i]);
  }
  return {};
}

Status attn::runtime::prepareLaunch(const LaunchPlan &plan,
                                    const PlanLaunch &launch,
                                    const BoundArguments &bound,
                                    void *workspace, const WorkspaceNeed &need,
                                    bool &skip, PreparedLaunch &out) {
  Preparer preparer(plan, bound, workspace, need);
  out.launch = &launch;
  out.plan = &plan;
  out.arguments = &bound;
  out.workspace = workspace;
  out.workspaceBytes = need.bytes;
  if (Status status = preparer.prepareGrid(launch, skip, out)) {
    return status;
  }
  if (skip) {
    return {};
  }
  out.params.resize(launch.params.size());
  for (size_t i = 0; i < launch.params.size(); ++i) {
    if (Status status =
            preparer.prepareParam(launch.params[i], out.params[i])) {
      return status;
    }
  }
  return {};
}

/// Returns "b = 2, sq = 5", for all symbols other than strides.
static std::string describeSizes(const LaunchPlan &plan,
                                 const BoundArguments &bound) {
  std::string text;
  for (int i = 0; i < plan.symbols.size(); ++i) {
    const std::string &name = plan.symbols.getName(i);
    if (bound.symbols.isBound(i) && name.find('.') == std::string::npos) {
      text += (text.empty() ? "" : ", ") + name + " = " +
              std::to_string(bound.symbols.get(i));
    }
  }
  return text;
}

Status attn::runtime::chooseVariant(const LaunchPlan &plan,
                                    const BoundArguments &bound,
                                    const PlanVariant *&variant) {
  for (const PlanVariant &each : plan.variants) {
    int64_t chosen = 0;
    if (Status status =
            each.when.evaluate(plan.symbols, bound.symbols, chosen)) {
      return status;
    }
    if (chosen != 0) {
      variant = &each;
      return {};
    }
  }
  return {ATTN_UNSUPPORTED,
          "no variant of " + quote(plan.name) +
              " accepts this problem: " + describeSizes(plan, bound)};
}

/// Adds the temporaries to the workspace of a variant's kernels. They begin
/// after the bytes that are zero for the kernels of any variant.
static Status placeTemporaries(const PlanVariant &variant,
                               const BoundArguments &bound,
                               WorkspaceNeed &need) {
  constexpr uint64_t alignment = 256;
  if (bound.temporaryBytes.empty()) {
    return {};
  }
  uint64_t end = std::max(need.bytes, need.zeroed);
  for (int64_t bytes : bound.temporaryBytes) {
    uint64_t begin = (end + alignment - 1) / alignment * alignment;
    end = begin + uint64_t(bytes);
    // Sizes are below 2^62.
    if (end > uint64_t(INT64_MAX)) {
      return outOfRange(variant.workspace,
                        "less than 2^63 bytes with the temporaries", bytes);
    }
    need.temporaries.push_back(begin);
  }
  need.bytes = end;
  return {};
}

Status attn::runtime::evaluateWorkspace(const LaunchPlan &plan,
                                        const PlanVariant &variant,
                                        const BoundArguments &bound,
                                        WorkspaceNeed &need) {
  int64_t value = 0;
  if (Status status =
          variant.workspace.evaluate(plan.symbols, bound.symbols, value)) {
    return status;
  }
  if (value < 0) {
    return outOfRange(variant.workspace, "at least 0 bytes", value);
  }
  need.bytes = size_t(value);
  need.zeroed = 0;
  for (const PlanVariant &each : plan.variants) {
    need.zeroed = std::max(need.zeroed, size_t(each.zeroed));
  }
  Status status = placeTemporaries(variant, bound, need);
  if (variant.zeroed == 0 || value == 0) {
    need.zeroed = 0;
  }
  return status;
}

void *attn::runtime::temporaryAt(void *workspace, const WorkspaceNeed &need,
                                 size_t index) {
  return workspace ? static_cast<char *>(workspace) + need.temporaries[index]
                   : nullptr;
}
