// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of one file of the cache.
//
//   magic "ATTNCACH", u32 version, u32 zero, the key (32 bytes),
//   u64 payload size, BLAKE3 of key and payload (32 bytes), payload
//
// Integers are little endian. The file contains its key, so that a renamed or
// copied file is detected.
#ifndef ATTN_JIT_CACHEENTRY_H
#define ATTN_JIT_CACHEENTRY_H

#include "CacheKey.h"
#include "llvm/Support/Error.h"

namespace attn::jit {

std::string encodeEntry(const CacheKey &key, llvm::StringRef payload);

/// Returns the payload in `bytes`, a file that should be the entry of `key`, or
/// an error that describes the damage.
llvm::Expected<llvm::StringRef> decodeEntry(const CacheKey &key,
                                            llvm::StringRef bytes);

} // namespace attn::jit

#endif // ATTN_JIT_CACHEENTRY_H
