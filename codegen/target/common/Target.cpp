// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target.h"
#include "attn/passes/schedule/DataTables.h"

using namespace mlir;
using namespace attn;

const codegen::Target *codegen::findTarget(ws::KernelOp kernel,
                                           StringRef pass) {
  auto emitError = [&] { return kernel.emitOpError() << pass << ": "; };
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(), emitError);
  if (failed(machine)) {
    return nullptr;
  }
  const Chip *chip = findChip(kernel.getContext(), machine->getChipName());
  if (!chip) {
    emitError() << "no lowering for machine '" << kernel.getMachine() << "'";
  }
  // All chips are targets: no other code adds a chip.
  return static_cast<const Target *>(chip);
}

const codegen::Target *codegen::findTarget(gpu::GPUModuleOp module,
                                           StringRef pass) {
  ArrayAttr targets = module.getTargetsAttr();
  auto target = targets && !targets.empty()
                    ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                    : NVVM::NVVMTargetAttr();
  const Chip *chip =
      target ? findChip(module.getContext(), target.getChip()) : nullptr;
  if (!chip) {
    module.emitOpError() << pass << ": expected a chip with a lowering, got '"
                         << (target ? target.getChip() : "none") << "'";
  }
  return static_cast<const Target *>(chip);
}
