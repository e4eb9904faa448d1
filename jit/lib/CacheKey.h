// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name of a cached thing: a hash of all that it depends on.
#ifndef ATTN_JIT_CACHEKEY_H
#define ATTN_JIT_CACHEKEY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <array>
#include <string>

namespace attn::jit {

class CacheKey {
public:
  static constexpr size_t kSize = 32;

  /// 64 hexadecimal digits.
  std::string toHex() const;
  /// The bytes as text, for files.
  llvm::StringRef getBytes() const;

  friend bool operator<(const CacheKey &a, const CacheKey &b) {
    return a.bytes < b.bytes;
  }
  friend bool operator==(const CacheKey &a, const CacheKey &b) {
    return a.bytes == b.bytes;
  }

private:
  friend class KeyBuilder;
  std::array<uint8_t, kSize> bytes{};
};

/// Hashes fields. Where one ends and the next begins is part of the hash.
class KeyBuilder {
public:
  /// `purpose` keeps keys of different things apart.
  explicit KeyBuilder(llvm::StringRef purpose) { add(purpose); }

  KeyBuilder &add(llvm::StringRef field);
  KeyBuilder &add(uint64_t field);
  CacheKey finish();

private:
  llvm::BLAKE3 hasher;
};

} // namespace attn::jit

#endif // ATTN_JIT_CACHEKEY_H
