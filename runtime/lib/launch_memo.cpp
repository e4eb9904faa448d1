// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch_memo.h"

#include <algorithm>
#include <array>

using namespace attn::runtime;

static constexpr uintptr_t kWorkspaceAlignment = 256;
/// A thread remembers two to the power of so many calls.
static constexpr int kLogMostCalls = 6;

RememberedCall::RememberedCall(const LaunchPlan &plan,
                               std::vector<int> tensorArgs,
                               size_t workspaceBytes)
    : addresses(plan.args.size()), workspaceBytes(workspaceBytes) {
  for (int arg : tensorArgs) {
    tensors.push_back({arg, uintptr_t(addressAlignment(plan.args[arg]))});
  }
}

bool RememberedCall::accepts(const attn_launch_args &args) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DLTensor &tensor = *args.tensors[i];
    char *data = static_cast<char *>(tensor.data) + tensor.byte_offset;
    if (!tensor.data ||
        reinterpret_cast<uintptr_t>(data) % tensors[i].alignment != 0) {
      return false;
    }
    addresses[size_t(tensors[i].arg)] = data;
  }
  return !checkWorkspace(args, workspaceBytes);
}

Status RememberedCall::launch(const attn_launch_args &args) {
  for (const std::unique_ptr<EncodedLaunch> &each : launches) {
    if (Status status = each->setMemory(addresses.data(), args.workspace)) {
      return status;
    }
    if (Status status = each->submit(args.stream)) {
      return status;
    }
  }
  return {};
}

namespace {

struct Entry {
  std::vector<uint64_t> key;
  std::unique_ptr<RememberedCall> call;
};

} // namespace

/// Where this thread's call with `key` is, if anywhere.
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
