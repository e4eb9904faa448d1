// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-opt: MLIR's standard driver over the project's dialects and passes.
#include "Help.h"
#include "attn/codegen/driver/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

/// Prints errors as single lines: the operation, which may be a whole kernel,
/// is only printed with `--mlir-print-op-on-diagnostic`.
static void leaveOpsOut() {
  mlir::registerMLIRContextCLOptions();
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option) {
    static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(false);
  }
}

extern "C" __attribute__((visibility("default"))) int
attn_opt_main(int argc, char **argv) {
  attn::hideOptionsOfLibraries();
  llvm::cl::extrahelp help(attn::kOptHelp);
  leaveOpsOut();
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  attn::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "attn: compiler for attention kernels\n", registry));
}
