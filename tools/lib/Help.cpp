// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Help.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

/// The options --help, --version and --color.
static bool isForEveryTool(const cl::Option &option) {
  return llvm::any_of(option.Categories, [](cl::OptionCategory *category) {
    return category->getName() == "Generic Options" ||
           category->getName() == "Color Options";
  });
}

void attn::hideOptionsOfLibraries() {
  for (auto &entry : cl::getRegisteredOptions()) {
    if (!isForEveryTool(*entry.second)) {
      entry.second->setHiddenFlag(cl::Hidden);
    }
  }
}

const char attn::kCompileHelp[] = R"(
INPUT AND OUTPUT:
  The input is MLIR of any stage, as text or bytecode; "-", the default, is
  standard input. The output of -o appears whole or not at all; the default is
  standard output. Remarks, warnings and errors go to standard error.

EXIT STATUS:
  0 if the output was written, 1 if not.

ENVIRONMENT:
  ATTN_PTXAS    the assembler, 12.8 or newer; "none" leaves a bundle's PTX to the
                driver. By default it is looked for on PATH, in CUDA's folders and
                in Python's packages.
  TMPDIR        where intermediate files are, and reproducers of what LLVM can
                not compile

EXAMPLES:
  attn-compile examples/causal.mlir -o causal.attn
  attn-compile examples/causal.mlir --emit=schedule -o causal.schedule.mlir
  attn-compile causal.schedule.mlir --emit=ptx -o causal.ptx
  attn-compile examples/causal.mlir --emit=ptx --explain --timing -o causal.ptx
  echo '{"ask": "vocabulary"}' | attn-compile --ask-schedules

See docs/debugging.md for how to find out what the compiler does.
)";

const char attn::kOptHelp[] = R"(
INPUT AND OUTPUT:
  The input is MLIR, as text or bytecode; "-", the default, is standard input.
  The passes run in the order of their options, and what they make of the input
  goes to standard output or to the file of -o.

EXIT STATUS:
  0 if all passes went well, 1 if not.

ENVIRONMENT:
  PATH          where --attn-assemble looks for ptxas
  TMPDIR        where intermediate files are, and reproducers of what LLVM can
                not compile

EXAMPLES:
  attn-opt examples/causal.mlir --attn-stage-attn --attn-stage-tile -o causal.tile.mlir
  attn-opt causal.tile.mlir --attn-schedule -o causal.schedule.mlir
  attn-opt causal.schedule.mlir --attn-stage-ws --mlir-print-ir-after-change -o causal.ws.mlir
  attn-opt examples/causal.mlir --attn-to-ptx -o causal.ptx.mlir

See docs/passes.md for what each pass needs and makes.
)";

const char attn::kLspServerHelp[] = R"(
INPUT AND OUTPUT:
  Messages of the Language Server Protocol on standard input and output, until the
  message "exit". An editor starts the server: give it this program in place of
  mlir-lsp-server. The log is on standard error.

EXIT STATUS:
  0 if it was told to shut down before its end, 1 if not.

ENVIRONMENT:
  None is read.

EXAMPLES:
  attn-lsp-server --log=error < /dev/null || true
)";
