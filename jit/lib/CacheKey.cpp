// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CacheKey.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace attn::jit;

std::string CacheKey::toHex() const {
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

llvm::StringRef CacheKey::getBytes() const {
  return llvm::toStringRef(llvm::ArrayRef<uint8_t>(bytes));
}

KeyBuilder &KeyBuilder::add(llvm::StringRef field) {
  add(uint64_t(field.size()));
  hasher.update(field);
  return *this;
}

KeyBuilder &KeyBuilder::add(uint64_t field) {
  uint8_t bytes[sizeof(field)];
  llvm::support::endian::write64le(bytes, field);
  hasher.update(llvm::ArrayRef<uint8_t>(bytes));
  return *this;
}

CacheKey KeyBuilder::finish() {
  CacheKey key;
  key.bytes = hasher.final<CacheKey::kSize>();
  return key;
}

CacheKey attn::jit::planKeyOf(const CacheKey &bundle) {
  return KeyBuilder("attn plan").add(bundle.getBytes()).finish();
}

CacheKey attn::jit::variantKeyOf(const CacheKey &bundle, uint64_t index) {
  return KeyBuilder("attn variant").add(bundle.getBytes()).add(index).finish();
}
