// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of one file of the cache.
//
//   magic "ATTNCACH", u32 version, u32 zero, the key (32 bytes),
//   u64 payload size, BLAKE3 of key and payload (32 bytes), payload
//
// Integers are little endian. The key is in the file so that one which was
// renamed or copied under another name is found out.
#ifndef ATTN_JIT_CACHEENTRY_H
#define ATTN_JIT_CACHEENTRY_H

#include "CacheKey.h"
#include "llvm/Support/Error.h"

namespace attn::jit {

std::string encodeEntry(const CacheKey &key, llvm::StringRef payload);

/// The payload in `bytes`, a file that should be the entry of `key`. The error
/// says what is wrong with it.
llvm::Expected<llvm::StringRef> decodeEntry(const CacheKey &key,
                                            llvm::StringRef bytes);

} // namespace attn::jit

#endif // ATTN_JIT_CACHEENTRY_H
