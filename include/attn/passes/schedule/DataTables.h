// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines and value names: data that is embedded in the compiler.
#ifndef ATTN_PASSES_SCHEDULE_DATATABLES_H
#define ATTN_PASSES_SCHEDULE_DATATABLES_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Names of the machines that are described, sorted.
llvm::SmallVector<std::string> listMachines();

/// The description of a machine, from passes/schedule/data/machines.
mlir::FailureOr<MachineAttr>
lookupMachine(mlir::MLIRContext *context, llvm::StringRef name,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The description of a machine in a file like those.
mlir::FailureOr<MachineAttr>
readMachine(mlir::MLIRContext *context, llvm::StringRef path,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Names and axes of the values of a kernel: those it brings in its attribute
/// `attn.values`, or those of its kind, from passes/schedule/data/values.
mlir::FailureOr<KernelValuesAttr>
lookupKernelValues(tile::KernelOp kernel,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_DATATABLES_H
