// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-opt: MLIR's standard driver over the project's dialects and passes.
#include "Help.h"
#include "attn/tools/Registration.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

extern "C" __attribute__((visibility("default"))) int
attn_opt_main(int argc, char **argv) {
  attn::hideOptionsOfLibraries();
  llvm::cl::extrahelp help(attn::kOptHelp);
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  attn::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "attn: compiler for attention kernels\n", registry));
}
