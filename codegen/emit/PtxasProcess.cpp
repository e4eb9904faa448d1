// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxasProcess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <optional>

using namespace llvm;
using namespace attn::codegen;

ProcessResult attn::codegen::runProcess(StringRef program,
                                        ArrayRef<StringRef> arguments) {
  ProcessResult result;
  SmallString<128> log;
  if (std::error_code error =
          sys::fs::createTemporaryFile("attn-ptxas", "log", log)) {
    result.output = "no temporary file: " + error.message();
    return result;
  }
  FileRemover remover(log);
  SmallVector<StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  auto start = std::chrono::steady_clock::now();
  std::string message;
  result.status =
      sys::ExecuteAndWait(program, all, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (auto text = MemoryBuffer::getFile(log)) {
    result.output = (*text)->getBuffer().str();
  }
  result.output += message;
  return result;
}
