// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What two calls of a launch have to have in common to differ in memory alone.

#ifndef ATTN_RUNTIME_LIB_LAUNCH_KEY_H
#define ATTN_RUNTIME_LIB_LAUNCH_KEY_H

#include "device.h"

namespace attn::runtime {

/// A bundle, a device, and a call's arguments but for addresses, the stream and
/// the workspace.
class LaunchKey {
public:
  /// `bundle` is a number that no other bundle has had. False for arguments
  /// that have no key: broken ones and very many.
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
