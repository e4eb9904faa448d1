// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/StampLayout.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/LaunchShape.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

std::optional<StampLayout> StampLayout::of(ws::KernelOp kernel) {
  auto stamps = kernel.getBody().getOps<ws::StampsOp>();
  if (stamps.empty()) {
    return std::nullopt;
  }
  StampLayout layout;
  bool hasCounter = handsOutItems(kernel);
  layout.offset = hasCounter ? alignment : 0;
  if (JoinLayout::isIn(kernel)) {
    layout.offset = JoinLayout::countsEnd;
  }
  layout.events = (*stamps.begin()).getEvents();
  layout.ctas = (*stamps.begin()).getCtas();
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    layout.instances += role.getReplicas();
  }
  kernel.walk([&](ws::StampOp stamp) {
    if (!llvm::is_contained(layout.names, nameOf(stamp))) {
      layout.names.push_back(nameOf(stamp));
    }
  });
  return layout;
}
