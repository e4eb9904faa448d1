// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/StampLayout.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/passes/schedule/ResourcePlan.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

std::optional<StampLayout> StampLayout::of(ws::KernelOp kernel) {
  auto stamps = kernel.getBody().getOps<ws::StampsOp>();
  if (stamps.empty()) {
    return std::nullopt;
  }
  StampLayout layout;
  layout.offset = JoinLayout::isIn(kernel) ? JoinLayout::countsEnd : alignment;
  layout.events = (*stamps.begin()).getEvents();
  layout.ctas = (*stamps.begin()).getCtas();
  layout.instances = ResourceNeeds::of(kernel).replicas();
  kernel.walk([&](ws::StampOp stamp) {
    if (!llvm::is_contained(layout.names, nameOf(stamp))) {
      layout.names.push_back(nameOf(stamp));
    }
  });
  return layout;
}

int64_t StampLayout::firstInstanceOf(ws::RoleOp role) {
  auto kernel = role->getParentOfType<ws::KernelOp>();
  int64_t first = 0;
  for (const ResourceNeeds::Role &other : ResourceNeeds::of(kernel).roles) {
    if (other.name == role.getSymName()) {
      break;
    }
    first += other.replicas;
  }
  return first;
}
