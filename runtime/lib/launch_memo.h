// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The latest launches of a thread, ready to be submitted on other memory: a
// call with the shapes, strides and scalars of an earlier call repeats that
// one.

#ifndef ATTN_RUNTIME_LIB_LAUNCH_MEMO_H
#define ATTN_RUNTIME_LIB_LAUNCH_MEMO_H

#include "launch_key.h"

namespace attn::runtime {

/// One call whose arguments passed their rules.
class RememberedCall {
public:
  /// `tensorArgs` has the plan argument of every tensor of the call.
  RememberedCall(const LaunchPlan &plan, const BoundArguments &bound,
                 const std::vector<int> &tensorArgs, WorkspaceNeed need);

  void add(std::unique_ptr<EncodedLaunch> launch) {
    launches.push_back(std::move(launch));
  }

  /// Whether `args`, which have the same key, also meet the rules about memory.
  /// If not, the caller makes the full call, which reports the broken rule.
  bool accepts(const attn_launch_args &args);
  /// Repeats the call on its device, with the arguments of the latest
  /// accepts().
  Status launch(Device &device, const attn_launch_args &args);

private:
  struct Tensor {
    int arg;
    int64_t bytes;
    /// The required alignment of its address, in bytes.
    uintptr_t alignment;
  };

  std::vector<Tensor> tensors;
  std::vector<void *> addresses;
  /// The index of the first temporary in `addresses`.
  size_t firstTemporary;
  WorkspaceNeed need;
  EncodedLaunches launches;
};

/// Returns this thread's call with `key`, or null.
RememberedCall *findRememberedCall(const LaunchKey &key);

/// Remembers a call, and forgets an older one if there are too many.
void rememberCall(const LaunchKey &key, std::unique_ptr<RememberedCall> call);

/// Checks the workspace of a launch that needs `bytes`.
Status checkWorkspace(const attn_launch_args &args, size_t bytes);

/// Enqueues the memset that the launch needs; sets `done` if there is one.
Status clearWorkspace(Device &device, const attn_launch_args &args,
                      const WorkspaceNeed &need, bool &done);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LAUNCH_MEMO_H
