// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CacheEntry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace attn::jit;

static constexpr StringLiteral kMagic = "ATTNCACH";
static constexpr uint32_t kVersion = 1;
static constexpr size_t kDigestSize = 32;

namespace {
/// Where the fields start.
enum Offset : size_t {
  kVersionAt = 8,
  kZeroAt = 12,
  kKeyAt = 16,
  kSizeAt = kKeyAt + CacheKey::kSize,
  kDigestAt = kSizeAt + 8,
  kPayloadAt = kDigestAt + kDigestSize
};
} // namespace

static std::string digestOf(const CacheKey &key, StringRef payload) {
  BLAKE3 hasher;
  hasher.update(key.getBytes());
  hasher.update(payload);
  BLAKE3Result<kDigestSize> digest = hasher.final<kDigestSize>();
  return toStringRef(ArrayRef<uint8_t>(digest)).str();
}

std::string attn::jit::encodeEntry(const CacheKey &key, StringRef payload) {
  char integers[8];
  std::string bytes = kMagic.str();
  bytes.reserve(kPayloadAt + payload.size());
  support::endian::write32le(integers, kVersion);
  support::endian::write32le(integers + 4, 0);
  bytes.append(integers, sizeof(integers));
  bytes += key.getBytes();
  support::endian::write64le(integers, payload.size());
  bytes.append(integers, sizeof(integers));
  bytes += digestOf(key, payload);
  bytes += payload;
  return bytes;
}

static Error mismatch(const Twine &what, const Twine &want, const Twine &got) {
  return createStringError("expected " + what + " to be " + want + ", got " +
                           got);
}

Expected<StringRef> attn::jit::decodeEntry(const CacheKey &key,
                                           StringRef bytes) {
  if (bytes.size() < kPayloadAt) {
    return mismatch("the size", "at least " + Twine(uint64_t(kPayloadAt)),
                    Twine(uint64_t(bytes.size())));
  }
  if (!bytes.starts_with(kMagic)) {
    return mismatch("the magic", "'" + kMagic + "'", "other bytes");
  }
  uint32_t version = support::endian::read32le(bytes.data() + kVersionAt);
  uint32_t zero = support::endian::read32le(bytes.data() + kZeroAt);
  if (version != kVersion || zero != 0) {
    return mismatch("the version", Twine(kVersion) + ".0",
                    Twine(version) + "." + Twine(zero));
  }
  if (bytes.substr(kKeyAt, CacheKey::kSize) != key.getBytes()) {
    return mismatch("the key", key.toHex(),
                    toHex(bytes.substr(kKeyAt, CacheKey::kSize), true));
  }
  StringRef payload = bytes.substr(kPayloadAt);
  uint64_t size = support::endian::read64le(bytes.data() + kSizeAt);
  if (size != payload.size()) {
    return mismatch("the payload's size", Twine(size),
                    Twine(uint64_t(payload.size())));
  }
  std::string digest = digestOf(key, payload);
  if (bytes.substr(kDigestAt, kDigestSize) != digest) {
    return mismatch("the digest", toHex(digest, true),
                    toHex(bytes.substr(kDigestAt, kDigestSize), true));
  }
  return payload;
}
