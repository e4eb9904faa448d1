// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From IR to a bundle, through the compiler's library if it is installed.

#ifndef ATTN_TOOLS_ATTN_RUN_COMPILE_INPUT_H
#define ATTN_TOOLS_ATTN_RUN_COMPILE_INPUT_H

#include "options.h"

namespace attn::run {

/// Compiles the options' input into a temporary file and sets `bundlePath` to
/// it; the caller removes it.
bool compileInput(const Options &options, std::string &bundlePath,
                  std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_COMPILE_INPUT_H
