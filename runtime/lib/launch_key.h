// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a call that two calls must share to differ only in memory.

#ifndef ATTN_RUNTIME_LIB_LAUNCH_KEY_H
#define ATTN_RUNTIME_LIB_LAUNCH_KEY_H

#include "device.h"

namespace attn::runtime {

/// A bundle, a device, and the arguments of a call without addresses, stream
/// and workspace.
class LaunchKey {
public:
  /// `bundle` is a number that is unique in the process. Returns false for
  /// arguments without a key: invalid ones and very many.
  bool read(uint64_t bundle, const Device &device,
            const attn_launch_args &args);

  /// Its highest bits depend on all bits of the key.
  uint64_t getHash() const;
  const uint64_t *begin() const { return words; }
  const uint64_t *end() const { return words + count; }

private:
  bool add(uint64_t word);
  bool addName(const char *const *names, size_t index);
  bool addTensor(const DLTensor *tensor);

  static constexpr int kMostWords = 128;
  uint64_t words[kMostWords];
  int count = 0;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LAUNCH_KEY_H
