// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program and captures its output.
#ifndef ATTN_CODEGEN_PTXASPROCESS_H
#define ATTN_CODEGEN_PTXASPROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn::codegen {

struct ProcessResult {
  /// The exit status; negative if the program did not start or was killed.
  int status = -1;
  /// stdout and stderr together.
  std::string output;
  double seconds = 0;
};

ProcessResult runProcess(llvm::StringRef program,
                         llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_PTXASPROCESS_H
