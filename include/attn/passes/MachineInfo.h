// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_MACHINEINFO_H
#define ATTN_PASSES_MACHINEINFO_H
#include "attn/dialect/Attn.h"
namespace attn {
struct MachineInfo { int64_t smemBytes, registers; };
mlir::FailureOr<MachineInfo> getMachineInfo(mlir::MLIRContext *, llvm::StringRef, llvm::function_ref<mlir::InFlightDiagnostic()>);
}
#endif
