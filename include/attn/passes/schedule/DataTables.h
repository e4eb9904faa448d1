// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines and value names, from data that is embedded in the compiler.
#ifndef ATTN_PASSES_SCHEDULE_DATATABLES_H
#define ATTN_PASSES_SCHEDULE_DATATABLES_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Returns the names of all machines, sorted.
llvm::SmallVector<std::string> listMachines();

/// Returns the description of a machine, from passes/schedule/data/machines.
mlir::FailureOr<MachineAttr>
lookupMachine(mlir::MLIRContext *context, llvm::StringRef name,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns the description of a machine in a file like those.
mlir::FailureOr<MachineAttr>
readMachine(mlir::MLIRContext *context, llvm::StringRef path,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns the names and axes of the values of a kernel: those of its attribute
/// `attn.values`, or of its kind in passes/schedule/data/values.
mlir::FailureOr<KernelValuesAttr>
lookupKernelValues(tile::KernelOp kernel,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_DATATABLES_H
