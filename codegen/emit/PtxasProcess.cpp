// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxasProcess.h"
#include "attn/codegen/emit/GiveUp.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <sys/wait.h>

using namespace llvm;
using namespace attn::codegen;

namespace {

/// The programs that threads run ahead of need.
class ProgramsAhead {
public:
  /// Never destroyed: threads may run while the process exits.
  static ProgramsAhead &get() {
    static auto *made = new ProgramsAhead;
    return *made;
  }

  void add(pid_t program) {
    std::lock_guard<std::mutex> lock(mutex);
    running.insert(program);
    if (givenUp) {
      ::kill(program, SIGKILL);
    }
  }

  void remove(pid_t program) {
    std::lock_guard<std::mutex> lock(mutex);
    running.erase(program);
  }

  void giveUp() {
    std::lock_guard<std::mutex> lock(mutex);
    givenUp = true;
    for (pid_t program : running) {
      ::kill(program, SIGKILL);
    }
  }

  bool areGivenUp() {
    std::lock_guard<std::mutex> lock(mutex);
    return givenUp;
  }

private:
  std::mutex mutex;
  std::set<pid_t> running;
  bool givenUp = false;
};

} // namespace

static thread_local unsigned compilesAhead = 0;

CompilesAhead::CompilesAhead() { ++compilesAhead; }
CompilesAhead::~CompilesAhead() { --compilesAhead; }

void attn::codegen::giveUpAhead() { ProgramsAhead::get().giveUp(); }

bool attn::codegen::isGivenUp() {
  return compilesAhead != 0 && ProgramsAhead::get().areGivenUp();
}

/// Waits for a program without reaping it, so that its number stays its own.
static void waitAhead(pid_t program) {
  ProgramsAhead::get().add(program);
  siginfo_t info;
  while (::waitid(P_PID, program, &info, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  ProgramsAhead::get().remove(program);
}

/// As sys::ExecuteAndWait, for a program that may be given up.
static int executeAndWait(StringRef program, ArrayRef<StringRef> arguments,
                          ArrayRef<std::optional<StringRef>> redirects,
                          std::string *message) {
  bool failed = false;
  sys::ProcessInfo started =
      sys::ExecuteNoWait(program, arguments, std::nullopt, redirects,
                         /*MemoryLimit=*/0, message, &failed);
  if (failed) {
    return -1;
  }
  if (compilesAhead != 0) {
    waitAhead(started.Pid);
  }
  return sys::Wait(started, /*SecondsToWait=*/std::nullopt, message).ReturnCode;
}

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
  result.status = executeAndWait(program, all, redirects, &message);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (auto text = MemoryBuffer::getFile(log)) {
    result.output = (*text)->getBuffer().str();
  }
  result.output += message;
  return result;
}
