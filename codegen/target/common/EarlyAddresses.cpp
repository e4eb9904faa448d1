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
static Operation *findWait(scf::IfOp branch, const Target &chip) {
  Operation *op = branch->getPrevNode();
  while (op && isPure(op)) {
    op = op->getPrevNode();
  }
  return op && chip.waitsForProducts(op) ? op : nullptr;
}

/// Moves the ops between a wait and `end` that do not use its results.
static void moveBefore(Operation *wait, Operation *end) {
  llvm::SmallPtrSet<Operation *, 16> late = {wait};
  for (Operation *op = wait->getNextNode(); op != end;) {
    Operation *next = op->getNextNode();
    bool isLate = op->getNumRegions() > 0 ||
                  llvm::any_of(op->getOperands(), [&](Value operand) {
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

void codegen::computeAddressesEarly(ws::KernelOp kernel, const Target &chip) {
  kernel.walk([&](scf::IfOp branch) {
    bool adds = !branch.thenBlock()->getOps<nvx::ReduceAddOp>().empty();
    if (Operation *wait = adds ? findWait(branch, chip) : nullptr) {
      moveBefore(wait, branch);
    }
  });
}
