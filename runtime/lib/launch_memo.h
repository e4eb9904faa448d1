// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's latest launches, ready to be submitted on other memory: a call
// with the shapes, strides and scalars of an earlier one repeats that one.

#ifndef ATTN_RUNTIME_LIB_LAUNCH_MEMO_H
#define ATTN_RUNTIME_LIB_LAUNCH_MEMO_H

#include "launch_key.h"

namespace attn::runtime {

/// One call whose arguments passed their rules.
class RememberedCall {
public:
  /// `tensorArgs` has the plan's argument for every tensor of the call.
  RememberedCall(const LaunchPlan &plan, const BoundArguments &bound,
                 const std::vector<int> &tensorArgs, WorkspaceNeed need);

  void add(std::unique_ptr<EncodedLaunch> launch) {
    launches.push_back(std::move(launch));
  }

  /// Whether the rules about memory hold for `args`, too, which have the same
  /// key. Who breaks one is to call in full, which says so.
  bool accepts(const attn_launch_args &args);
  /// Repeats the call, on its device, with what accepts() has seen last.
  Status launch(Device &device, const attn_launch_args &args);

private:
  struct Tensor {
    int arg;
    int64_t bytes;
    /// Of its address, bytes.
    uintptr_t alignment;
  };

  std::vector<Tensor> tensors;
  std::vector<void *> addresses;
  WorkspaceNeed need;
  std::vector<std::unique_ptr<EncodedLaunch>> launches;
};

/// This thread's call with `key`, null if there is none.
RememberedCall *findRememberedCall(const LaunchKey &key);

/// Forgets another call where there are too many.
void rememberCall(const LaunchKey &key, std::unique_ptr<RememberedCall> call);

/// The rule about the workspace of a launch that needs `bytes`.
Status checkWorkspace(const attn_launch_args &args, size_t bytes);

/// Enqueues the memset that the launch needs, and sets `done` if there is one.
Status clearWorkspace(Device &device, const attn_launch_args &args,
                      const WorkspaceNeed &need, bool &done);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LAUNCH_MEMO_H
