// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assembler on this machine.
#ifndef ATTN_CODEGEN_EMIT_FINDPTXAS_H
#define ATTN_CODEGEN_EMIT_FINDPTXAS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace attn::codegen {

struct Ptxas {
  std::string path;
  /// The output of its --version, which distinguishes any two builds.
  std::string version;
};

/// As the name of a program, leaves the PTX to the driver.
constexpr llvm::StringLiteral kNoPtxas = "none";

/// Runs the program to ask for its version, once per process.
std::string askPtxasVersion(llvm::StringRef path);

/// Returns a ptxas of 12.8 or newer: `requested` if given, otherwise the first
/// one found. The error lists the places that were searched. `ask` returns a
/// program's version.
llvm::Expected<Ptxas> findPtxas(
    llvm::StringRef requested,
    llvm::function_ref<std::string(llvm::StringRef)> ask = askPtxasVersion);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_FINDPTXAS_H
