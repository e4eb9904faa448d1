// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lsp-server: MLIR's language server over the project's dialects.
#include "Help.h"
#include "attn/codegen/driver/Registration.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

extern "C" __attribute__((visibility("default"))) int
attn_lsp_server_main(int argc, char **argv) {
  attn::hideOptionsOfLibraries();
  llvm::cl::extrahelp help(attn::kLspServerHelp);
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
