// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchSizes.h"
#include "attn/codegen/launch/KernelParams.h"

using namespace attn;
using namespace attn::codegen;

std::optional<LaunchSizes> LaunchSizes::of(ws::KernelOp kernel) {
  std::optional<unsigned> query = kernel.getArgs().find(ArgumentRole::Query);
  std::optional<unsigned> key = kernel.getArgs().find(ArgumentRole::Key);
  if (!query || !key) {
    return std::nullopt;
  }
  bool headsFirst = kernel.getProblem().getLayout() == LayoutKind::BHSD;
  unsigned positions = headsFirst ? 2 : 1, heads = headsFirst ? 1 : 2;
  auto ofQuery = sizesOf(kernel, *query), ofKey = sizesOf(kernel, *key);
  return LaunchSizes{ofQuery[0], ofQuery[heads], ofQuery[positions],
                     ofKey[positions]};
}
