// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The identity of this build of the compiler.
#ifndef ATTN_JIT_BUILDID_H
#define ATTN_JIT_BUILDID_H

#include <string>

namespace attn::jit {

/// Returns the linker's build id of this library as it is in memory, in
/// hexadecimal: a hash of its contents, which include the embedded tables. ""
/// if it was linked without one.
const std::string &getBuildId();

} // namespace attn::jit

#endif // ATTN_JIT_BUILDID_H
