// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch_memo.h"

#include <algorithm>
#include <array>

using namespace attn::runtime;

static constexpr uintptr_t kWorkspaceAlignment = 256;
/// A thread remembers 2^kLogMostCalls calls.
static constexpr int kLogMostCalls = 6;

RememberedCall::RememberedCall(const LaunchPlan &plan,
                               const BoundArguments &bound,
                               const std::vector<int> &tensorArgs,
                               WorkspaceNeed need)
    : addresses(plan.args.size() + plan.temporaries.size()),
      firstTemporary(plan.args.size()), need(std::move(need)) {
  for (int arg : tensorArgs) {
    tensors.push_back({arg, bound.tensors[size_t(arg)].bytes,
                       uintptr_t(addressAlignment(plan.args[size_t(arg)]))});
  }
}

bool RememberedCall::accepts(const attn_launch_args &args) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DLTensor &tensor = *args.tensors[i];
    char *data = nullptr;
    if (!tensor.data || !locate(tensor, tensors[i].bytes, data) ||
        reinterpret_cast<uintptr_t>(data) % tensors[i].alignment != 0) {
      return false;
    }
    addresses[size_t(tensors[i].arg)] = data;
  }
  return !checkWorkspace(args, need.bytes);
}

Status RememberedCall::launch(Device &device, const attn_launch_args &args) {
  for (size_t i = 0; i < need.temporaries.size(); ++i) {
    addresses[firstTemporary + i] = temporaryAt(args.workspace, need, i);
  }
  for (const std::unique_ptr<EncodedLaunch> &each : launches) {
    if (Status status = each->setMemory(addresses.data(), args.workspace)) {
      return status;
    }
  }
  bool cleared = false;
  if (Status status = clearWorkspace(device, args, need, cleared)) {
    return status;
  }
  for (const std::unique_ptr<EncodedLaunch> &each : launches) {
    if (Status status = each->submit(args.stream, !cleared)) {
      return status;
    }
    cleared = false;
  }
  return {};
}

namespace {

struct Entry {
  std::vector<uint64_t> key;
  std::unique_ptr<RememberedCall> call;
};

} // namespace

/// The entry of this thread in which the call with `key` would be.
static Entry &entryOf(const LaunchKey &key) {
  static thread_local std::array<Entry, size_t(1) << kLogMostCalls> entries;
  return entries[key.getHash() >> (64 - kLogMostCalls)];
}

RememberedCall *attn::runtime::findRememberedCall(const LaunchKey &key) {
  Entry &entry = entryOf(key);
  bool same =
      std::equal(key.begin(), key.end(), entry.key.begin(), entry.key.end());
  return same ? entry.call.get() : nullptr;
}

void attn::runtime::rememberCall(const LaunchKey &key,
                                 std::unique_ptr<RememberedCall> call) {
  Entry &entry = entryOf(key);
  entry.key.assign(key.begin(), key.end());
  entry.call = std::move(call);
}

Status attn::runtime::checkWorkspace(const attn_launch_args &args,
                                     size_t bytes) {
  if (bytes == 0) {
    return {};
  }
  if (args.workspace_size < bytes) {
    return invalidArgument("expected the workspace to be at least " +
                           std::to_string(bytes) + " bytes, got " +
                           std::to_string(args.workspace_size));
  }
  auto address = reinterpret_cast<uintptr_t>(args.workspace);
  if (address == 0 || address % kWorkspaceAlignment != 0) {
    return invalidArgument("expected the workspace's address to be a multiple "
                           "of 256 and not null, got " +
                           std::to_string(address));
  }
  return {};
}

Status attn::runtime::clearWorkspace(Device &device,
                                     const attn_launch_args &args,
                                     const WorkspaceNeed &need, bool &done) {
  done = need.zeroed > 0 && !(args.flags & ATTN_LAUNCH_WORKSPACE_READY);
  if (!done) {
    return {};
  }
  // Also clears the bytes that launches of the bundle's other variants need, so
  // that the workspace is ready for them.
  size_t bytes = std::min(need.zeroed, args.workspace_size);
  return device.clear(args.workspace, bytes, args.stream);
}
