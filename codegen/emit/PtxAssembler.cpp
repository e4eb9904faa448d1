// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxAssembler.h"
#include "PtxasProcess.h"
#include "attn/support/Refusal.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace attn::codegen;

/// Returns the number before `unit` in `line`, or 0.
static unsigned getNumber(StringRef line, StringRef unit) {
  SmallVector<StringRef> match;
  unsigned value = 0;
  if (Regex(("([0-9]+) " + unit).str()).match(line, &match)) {
    match[1].getAsInteger(10, value);
  }
  return value;
}

/// Whether a line reports serialized wgmma, an ignored setmaxnreg, and the
/// like.
static bool isLoss(StringRef line) {
  return Regex("\\(C75[0-9][0-9]\\)").match(line);
}

AssemblyReport attn::codegen::parsePtxasOutput(StringRef output) {
  AssemblyReport report;
  SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef name = line.split("Compiling entry function '").second;
    if (!name.empty()) {
      report.kernels.emplace_back();
      report.kernels.back().name = name.split('\'').first.str();
      continue;
    }
    bool loss = isLoss(line);
    report.serialized += loss;
    std::string text = line.trim().str();
    if (!report.kernels.empty() && line.contains("spill stores")) {
      KernelReport &kernel = report.kernels.back();
      kernel.stack += getNumber(line, "bytes stack frame");
      kernel.spillStores += getNumber(line, "bytes spill stores");
      kernel.spillLoads += getNumber(line, "bytes spill loads");
      loss |= getNumber(line, "bytes spill stores") != 0 ||
              getNumber(line, "bytes spill loads") != 0;
      text += " of '" + kernel.name + "'"; // the line does not name the kernel
    } else if (!report.kernels.empty() && line.contains(": Used ")) {
      KernelReport &kernel = report.kernels.back();
      kernel.registers = getNumber(line, "registers");
      kernel.barriers = getNumber(line, "barriers");
      kernel.shared = getNumber(line, "bytes smem");
    }
    if (loss) {
      report.losses.push_back(text);
    }
    if (loss || line.contains("warning")) {
      report.warnings.push_back(text);
    }
  }
  return report;
}

StringRef attn::codegen::reasonOfFailure(StringRef message) {
  return message.contains("Insufficient registers") ? refusal::spill
         : message.contains("shared data")          ? refusal::sharedMemory
                                                    : refusal::other;
}

Expected<Assembly> attn::codegen::assemblePtx(StringRef ptx, StringRef chip,
                                              StringRef ptxas) {
  SmallString<128> source, target;
  int descriptor = -1;
  if (std::error_code error =
          sys::fs::createTemporaryFile("attn", "ptx", descriptor, source)) {
    return createStringError(error, "expected a temporary file for the PTX");
  }
  FileRemover removeSource(source);
  raw_fd_ostream(descriptor, /*shouldClose=*/true) << ptx;
  if (std::error_code error =
          sys::fs::createTemporaryFile("attn", "cubin", target)) {
    return createStringError(error, "expected a temporary file for the cubin");
  }
  FileRemover removeTarget(target);

  std::string arch = ("-arch=" + chip).str();
  // Assembles the kernels of a module in parallel, on all cores; the machine
  // code is the same as without.
  ProcessResult result = runProcess(
      ptxas, {arch, "-O3", "-v", "--split-compile=0", source, "-o", target});
  if (result.status != 0) {
    return createStringError("expected ptxas to accept the PTX, got status " +
                             std::to_string(result.status) + ":\n" +
                             StringRef(result.output).rtrim().str());
  }
  auto cubin = MemoryBuffer::getFile(target, /*IsText=*/false,
                                     /*RequiresNullTerminator=*/false);
  if (!cubin || (*cubin)->getBufferSize() == 0) {
    return createStringError("expected ptxas to write a cubin, got none");
  }
  Assembly assembly;
  assembly.cubin = (*cubin)->getBuffer().str();
  assembly.report = parsePtxasOutput(result.output);
  assembly.report.seconds = result.seconds;
  return assembly;
}
