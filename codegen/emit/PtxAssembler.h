// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ptxas and parses its reports.
#ifndef ATTN_CODEGEN_PTXASSEMBLER_H
#define ATTN_CODEGEN_PTXASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace attn::codegen {

/// The assembler's report on one kernel; sizes in bytes.
struct KernelReport {
  std::string name;
  unsigned registers = 0;
  unsigned stack = 0;
  unsigned spillStores = 0;
  unsigned spillLoads = 0;
  unsigned barriers = 0;
  unsigned shared = 0;
};

struct AssemblyReport {
  std::vector<KernelReport> kernels;
  /// ptxas' warning lines: spills (with the name of the kernel appended), C75xx
  /// and any other.
  std::vector<std::string> warnings;
  /// The warnings among them that mean a slow kernel.
  std::vector<std::string> losses;
  /// The number of C75xx among them.
  unsigned serialized = 0;
  double seconds = 0;
};

struct Assembly {
  std::string cubin;
  AssemblyReport report;
};

/// Reads the output of `ptxas -v`.
AssemblyReport parsePtxasOutput(llvm::StringRef output);

/// Returns the reason of a refusal, one of Refusal.h, in an error of
/// assemblePtx().
llvm::StringRef reasonOfFailure(llvm::StringRef message);

/// Assembles `ptx` for `chip`; an error contains ptxas' own lines.
llvm::Expected<Assembly> assemblePtx(llvm::StringRef ptx, llvm::StringRef chip,
                                     llvm::StringRef ptxas);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_PTXASSEMBLER_H
