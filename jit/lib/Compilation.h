// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of the compiler: from a request to the bytes of a bundle, or of its
// plan, or of one of its variants.
#ifndef ATTN_JIT_COMPILATION_H
#define ATTN_JIT_COMPILATION_H

#include "Request.h"

namespace attn::jit {

struct Toolchain {
  std::string ptxas;   // "": leave the PTX to the driver
  std::string dumpDir; // "": none
};

/// The result of a run.
struct Compiled {
  std::string bundle; // the bytes of its file
  /// Not empty if the bundle has a plan alone: the module from which
  /// compileVariant goes on.
  std::string lowered;
};

// A fatal error of LLVM becomes a status that names a file to reproduce it.

/// Is told the answer of the part of the compiler that may refuse a request.
using Judge = llvm::function_ref<void(const Status &)>;

/// Compiles any input. With `separately`, a bundle whose variants can be
/// compiled one by one gets a plan alone.
Status compileRequest(const Request &request, const Toolchain &toolchain,
                      bool separately, Judge judge, Compiled &compiled);

/// Compiles variant `index` of the plan of `request`. `lowered` is from
/// compileRequest, or "" to begin with the request.
Status compileVariant(const Request &request, const Toolchain &toolchain,
                      llvm::StringRef lowered, size_t index,
                      std::string &bundle);

/// Runs the part of the compiler that may refuse a request.
Status checkRequest(const Request &request);

/// Runs the same part, and sets `decisions` to the remarks of its passes, a
/// line each.
Status explainRequest(const Request &request, std::string &decisions);

} // namespace attn::jit

#endif // ATTN_JIT_COMPILATION_H
