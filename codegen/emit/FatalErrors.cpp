// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/emit/FatalErrors.h"
#include "llvm/Support/ErrorHandling.h"
#include <csetjmp>
#include <mutex>

namespace {

/// The innermost `catchFatalError` of this thread.
struct Frame {
  std::jmp_buf target;
  std::string message;
};
thread_local Frame *current = nullptr;

/// Without a frame it returns, and LLVM ends the process as usual.
void handleFatalError(void *, const char *reason, bool) {
  if (Frame *frame = current) {
    frame->message = reason;
    std::longjmp(frame->target, 1);
  }
}

} // namespace

std::optional<std::string>
attn::codegen::catchFatalError(llvm::function_ref<void()> body) {
  static std::once_flag installed;
  std::call_once(installed,
                 [] { llvm::install_fatal_error_handler(handleFatalError); });
  Frame frame;
  Frame *outer = current;
  current = &frame;
  bool failed = setjmp(frame.target) != 0;
  if (!failed) {
    body();
  }
  current = outer;
  if (failed) {
    return frame.message;
  }
  return std::nullopt;
}
