// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of the compiler, from a request to the bytes of a bundle.
#ifndef ATTN_JIT_COMPILATION_H
#define ATTN_JIT_COMPILATION_H

#include "Request.h"

namespace attn::jit {

struct Toolchain {
  std::string ptxas;   // "": leave the PTX to the driver
  std::string dumpDir; // "": none
};

/// Compiles any input: a fatal error of LLVM becomes a status that names a file
/// to reproduce it.
Status compileRequest(const Request &request, const Toolchain &toolchain,
                      std::string &bundle);

/// Runs the part of the compiler that may refuse a request.
Status checkRequest(const Request &request);

/// Runs the same part, and sets `decisions` to the remarks of its passes, a
/// line each.
Status explainRequest(const Request &request, std::string &decisions);

} // namespace attn::jit

#endif // ATTN_JIT_COMPILATION_H
