// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structs of the C interface that begin with their size: reads and fills those
// of older and newer callers (attn.h, "A library works with callers").

#ifndef ATTN_RUNTIME_INTERNAL_VERSIONED_STRUCT_H
#define ATTN_RUNTIME_INTERNAL_VERSIONED_STRUCT_H

#include "status.h"

#include <algorithm>
#include <cstring>

namespace attn::runtime {

/// The upper limit on the size of any struct of the interface, in bytes.
constexpr size_t kMostStructSize = 4096;

/// Checks the size of a caller's struct `name`, whose first version had
/// `first` bytes.
inline Status checkStructSize(const size_t *size, const char *name,
                              size_t first) {
  if (size && *size >= first && *size <= kMostStructSize) {
    return {};
  }
  return invalidArgument("expected " + std::string(name) + ".size to be from " +
                         std::to_string(first) + " to " +
                         std::to_string(kMostStructSize) + ", got " +
                         (size ? std::to_string(*size) : "a null struct"));
}

/// Copies the caller's struct: fields that it lacks become zero, and fields
/// that are unknown here must be zero. `size` is that of this library's struct.
template <typename T>
Status readStruct(const T *given, const char *name, size_t first, T &out) {
  if (Status status =
          checkStructSize(given ? &given->size : nullptr, name, first)) {
    return status;
  }
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(T); i < given->size; ++i) {
    if (bytes[i] != 0) {
      return {ATTN_UNSUPPORTED,
              "expected " + std::string(name) + " to be zero from byte " +
                  std::to_string(sizeof(T)) + " on, which version " +
                  ATTN_VERSION + " of the library does not know, got " +
                  std::to_string(static_cast<unsigned char>(bytes[i])) +
                  " at byte " + std::to_string(i)};
    }
  }
  out = {};
  std::memcpy(&out, given, std::min(sizeof(T), given->size));
  out.size = sizeof(T);
  return {};
}

/// Fills the caller's struct: fields that are unknown here become zero.
template <typename T>
Status writeStruct(const T &value, const char *name, size_t first, T *out) {
  if (Status status =
          checkStructSize(out ? &out->size : nullptr, name, first)) {
    return status;
  }
  size_t size = out->size;
  std::memset(static_cast<void *>(out), 0, size);
  std::memcpy(static_cast<void *>(out), &value, std::min(sizeof(T), size));
  out->size = size;
  return {};
}

} // namespace attn::runtime

#endif // ATTN_RUNTIME_INTERNAL_VERSIONED_STRUCT_H
