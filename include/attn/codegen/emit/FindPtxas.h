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
  /// What it prints when asked, which tells any two builds apart.
  std::string version;
};

/// Asked for in place of a program, this leaves PTX to the driver.
constexpr llvm::StringLiteral kNoPtxas = "none";

/// Runs the program to ask for its version, once in a process.
std::string askPtxasVersion(llvm::StringRef path);

/// A ptxas of 12.8 or newer: `requested` if given, else the first found. The
/// error says where was looked. `ask` is how a version is found out.
llvm::Expected<Ptxas> findPtxas(
    llvm::StringRef requested,
    llvm::function_ref<std::string(llvm::StringRef)> ask = askPtxasVersion);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_FINDPTXAS_H
