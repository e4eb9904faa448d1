// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/StampLayout.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static tile::JoinOp joinOf(ws::KernelOp kernel) {
  tile::JoinOp found;
  kernel.walk([&](tile::JoinOp join) { found = join; });
  return found;
}

static int64_t warpsOf(tile::JoinOp join) {
  auto role = join->getParentOfType<ws::RoleOp>();
  return role.getWarps() * role.getReplicas();
}

bool JoinLayout::isIn(ws::KernelOp kernel) { return bool(joinOf(kernel)); }

std::optional<JoinLayout> JoinLayout::of(ws::KernelOp kernel) {
  tile::JoinOp join = joinOf(kernel);
  if (!join) {
    return std::nullopt;
  }
  JoinLayout layout;
  layout.warps = warpsOf(join);
  for (Type type : join.getValues().getTypes()) {
    layout.elements += cast<VectorType>(type).getNumElements();
  }
  std::optional<StampLayout> stamps = StampLayout::of(kernel);
  layout.values = stamps ? llvm::alignTo(stamps->end(), alignment) : countsEnd;
  return layout;
}
