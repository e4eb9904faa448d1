// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one file of the compiler that is compiled with exceptions.
#include "OutOfMemory.h"
#include "llvm/Support/ErrorHandling.h"
#include <mutex>
#include <new>
#include <stdexcept>

/// For allocations of LLVM's own; `operator new` throws by itself.
static void throwBadAlloc(void *, const char *, bool) {
  throw std::bad_alloc();
}

bool attn::jit::runInMemory(llvm::function_ref<void()> body) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    llvm::remove_bad_alloc_error_handler();
    llvm::install_bad_alloc_error_handler(throwBadAlloc);
  });
  try {
    body();
  } catch (const std::bad_alloc &) {
    return false;
  } catch (const std::length_error &) {
    return false;
  }
  return true;
}
