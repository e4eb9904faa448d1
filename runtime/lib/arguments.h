// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a call's tensors and scalars against the plan and binds its symbols.

#ifndef ATTN_RUNTIME_LIB_ARGUMENTS_H
#define ATTN_RUNTIME_LIB_ARGUMENTS_H

#include "launch_plan.h"

namespace attn::runtime {

/// The values of a call, one entry for every plan argument: `tensors[i]` if
/// argument i is a tensor, otherwise `scalars[i]`.
struct CallValues {
  std::vector<const DLTensor *> tensors;
  std::vector<double> scalars;
  /// The plan argument of every entry of the public struct's tensors.
  std::vector<int> tensorArgs;
  DLDevice device;
};

/// A tensor that passed its rules.
struct BoundTensor {
  /// The first element; null only if the tensor has none.
  char *data = nullptr;
  /// The number of bytes from `data` to the end of the last element.
  int64_t bytes = 0;
};

/// Arguments that passed their rules.
struct BoundArguments {
  explicit BoundArguments(const LaunchPlan &plan)
      : tensors(plan.args.size()), floats(plan.args.size()),
        temporaryBytes(plan.temporaries.size()), symbols(plan.symbols.size()) {}

  std::vector<BoundTensor> tensors;
  std::vector<float> floats;
  /// The size of each temporary.
  std::vector<int64_t> temporaryBytes;
  /// Dims, i32 and i64 scalars, and strides in elements; a stride that does not
  /// matter (at most one element along it) has a legal substitute.
  SymbolValues symbols;
};

/// Sorts the public struct's arrays into plan order. Errors name what is
/// missing, unknown or given twice.
Status collectArguments(const LaunchPlan &plan, const attn_launch_args &args,
                        CallValues &out);

/// The required alignment of the address of tensor `arg`, in bytes.
int64_t addressAlignment(const PlanArg &arg);

/// Sets `data` to the first element of `tensor`, whose last element ends
/// `bytes` later. Returns false if that is beyond the address space.
bool locate(const DLTensor &tensor, int64_t bytes, char *&data);

/// Checks every rule: rank, type, extents, device, alignment, strides,
/// overlap, scalars, and the plan's own checks. `multiprocessors` is bound to
/// "sm_count". Also binds the plan's values and the temporaries.
Status bindArguments(const LaunchPlan &plan, const CallValues &values,
                     int64_t multiprocessors, BoundArguments &bound);

/// Binds values, in order.
Status bindValues(const LaunchPlan &plan, const std::vector<PlanValue> &values,
                  BoundArguments &bound);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_ARGUMENTS_H
