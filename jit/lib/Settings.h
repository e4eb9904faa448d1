// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings from the environment and from attn_jit_option.
#ifndef ATTN_JIT_SETTINGS_H
#define ATTN_JIT_SETTINGS_H

#include "llvm/Support/Error.h"
#include <limits>
#include <string>
#include <vector>

namespace attn::jit {

struct Settings {
  std::string cacheDir; // "": none
  std::vector<std::string> readonlyCacheDirs;
  bool disableCache = false;
  bool disableJit = false;
  uint64_t maxCompiles = std::numeric_limits<uint64_t>::max();
  std::string dumpDir; // "": none
  std::string ptxas;   // "": searched

  /// Sets one option by its name in attn_jit_option; "" restores the default.
  llvm::Error set(llvm::StringRef name, llvm::StringRef value);

  /// Returns the defaults, overridden by the environment. An environment
  /// variable with a bad value is an error that names it.
  static llvm::Expected<Settings> fromEnvironment();
};

} // namespace attn::jit

#endif // ATTN_JIT_SETTINGS_H
