// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target.h"

using namespace mlir;
using namespace attn;

const codegen::Target *codegen::findTarget(ws::KernelOp kernel,
                                           StringRef pass) {
  const Chip *chip = findChip(kernel.getContext(), kernel.getMachine());
  if (!chip) {
    kernel.emitOpError() << pass << ": no lowering for machine '"
                         << kernel.getMachine() << "'";
  }
  // All chips are targets: nothing else adds one.
  return static_cast<const Target *>(chip);
}
