// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Ws.h"

using namespace mlir;
using namespace attn::ws;

LogicalResult StampOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  auto count =
      kernel ? llvm::range_size(kernel.getBody().getOps<StampsOp>()) : 0;
  if (count != 1) { // C1
    return emitOpError("expected one 'ws.stamps' in the kernel, got ") << count;
  }
  if (!(*this)->getParentOfType<RoleOp>()) { // C2
    return emitOpError("expected to be in a 'ws.role'");
  }
  return success();
}
