// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which build of the compiler this is.
#ifndef ATTN_JIT_BUILDID_H
#define ATTN_JIT_BUILDID_H

#include <string>

namespace attn::jit {

/// The linker's build id of this library as it is in memory, in hexadecimal: a
/// hash of its contents, the embedded tables among them. "" if it was linked
/// without one.
const std::string &getBuildId();

} // namespace attn::jit

#endif // ATTN_JIT_BUILDID_H
