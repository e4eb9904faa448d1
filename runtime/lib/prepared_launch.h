// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch with all expressions evaluated, as a device receives it.

#ifndef ATTN_RUNTIME_LIB_PREPARED_LAUNCH_H
#define ATTN_RUNTIME_LIB_PREPARED_LAUNCH_H

#include "arguments.h"

namespace attn::runtime {

/// A tiled tensor map, innermost dimension first.
struct TensorMapRequest {
  DataType dtype = DataType::BF16;
  int rank = 0;
  void *address = nullptr;
  uint64_t sizes[kMaxTensorMapRank];       // elements, at least 1
  uint64_t strides[kMaxTensorMapRank - 1]; // bytes, of dims 1 and up
  uint32_t box[kMaxTensorMapRank];         // elements
  int swizzle = 0;                         // bytes
  int l2Promotion = 0;                     // bytes
};

struct PreparedParam {
  ParamKind kind = ParamKind::I32;
  /// I32, I64, F32 (its bits) and pointers, as the kernel reads them.
  uint64_t value = 0;
  /// For TensorMap.
  TensorMapRequest map;
};

struct PreparedLaunch {
  /// The launch in the plan; outlives this.
  const PlanLaunch *launch = nullptr;
  unsigned grid[3] = {1, 1, 1};
  std::vector<PreparedParam> params;
  /// The call's memory, for a device that checks what kernels access.
  const LaunchPlan *plan = nullptr;
  const BoundArguments *arguments = nullptr;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
};

/// The first variant whose `when` is not zero.
Status chooseVariant(const LaunchPlan &plan, const BoundArguments &bound,
                     const PlanVariant *&variant);

/// The workspace that a call needs: that of its kernels, then the temporaries.
struct WorkspaceNeed {
  size_t bytes = 0;
  /// The number of leading bytes that any launch of the bundle needs to be
  /// zero; 0 if this launch needs none. It may exceed the size of this
  /// workspace.
  size_t zeroed = 0;
  /// Where each temporary begins.
  std::vector<size_t> temporaries;
};

/// Returns the address of a temporary in the workspace, or null if there is no
/// workspace.
void *temporaryAt(void *workspace, const WorkspaceNeed &need, size_t index);

/// Evaluates the workspace of `variant`.
Status evaluateWorkspace(const LaunchPlan &plan, const PlanVariant &variant,
                         const BoundArguments &bound, WorkspaceNeed &need);

/// Evaluates `launch`. Sets `skip`, and prepares nothing, if the grid is empty.
/// `out` refers to `plan`, `launch` and `bound`.
Status prepareLaunch(const LaunchPlan &plan, const PlanLaunch &launch,
                     const BoundArguments &bound, void *workspace,
                     const WorkspaceNeed &need, bool &skip,
                     PreparedLaunch &out);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_PREPARED_LAUNCH_H
