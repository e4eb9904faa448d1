// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's archives call arc4random, which glibc has only since 2.36; this
// project supports 2.34.
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() noexcept {
  uint32_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value)) {
    std::abort();
  }
  return value;
}
