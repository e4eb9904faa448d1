// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name of a cached item: a hash of everything that it depends on.
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

/// Hashes fields. The boundaries between fields are part of the hash.
class KeyBuilder {
public:
  /// `purpose` separates the keys of different kinds of items.
  explicit KeyBuilder(llvm::StringRef purpose) { add(purpose); }

  KeyBuilder &add(llvm::StringRef field);
  KeyBuilder &add(uint64_t field);
  CacheKey finish();

private:
  llvm::BLAKE3 hasher;
};

/// Of the plan of a bundle that is compiled variant by variant.
CacheKey planKeyOf(const CacheKey &bundle);
/// Of a variant of such a bundle.
CacheKey variantKeyOf(const CacheKey &bundle, uint64_t index);

} // namespace attn::jit

#endif // ATTN_JIT_CACHEKEY_H
