// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EarlyAddresses.h"
#include "attn/dialect/Nvx.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the wait before which the branch around additions can be prepared:
/// only pure ops are between them. Null if there is none.
static nvx::WgmmaWaitOp findWait(scf::IfOp branch) {
  Operation *op = branch->getPrevNode();
  while (op && isPure(op)) {
    op = op->getPrevNode();
  }
  return dyn_cast_if_present<nvx::WgmmaWaitOp>(op);
}

/// Moves the ops between a wait and `end` that need nothing of the wait.
static void moveBefore(nvx::WgmmaWaitOp wait, Operation *end) {
  llvm::SmallPtrSet<Operation *, 16> late = {wait};
  for (Operation *op = wait->getNextNode(); op != end;) {
    Operation *next = op->getNextNode();
    bool isLate = llvm::any_of(op->getOperands(), [&](Value operand) {
      return late.contains(operand.getDefiningOp());
    });
    if (isLate) {
      late.insert(op);
    } else {
      op->moveBefore(wait);
    }
    op = next;
  }
}

void codegen::computeAddressesEarly(ws::KernelOp kernel) {
  kernel.walk([](scf::IfOp branch) {
    bool adds = !branch.thenBlock()->getOps<nvx::ReduceAddOp>().empty();
    if (nvx::WgmmaWaitOp wait = adds ? findWait(branch) : nullptr) {
      moveBefore(wait, branch);
    }
  });
}
