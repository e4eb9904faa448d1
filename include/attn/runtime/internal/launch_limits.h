// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch may have on any GPU that runs kernels of the compiler. A
// machine of the compiler may allow less.

#ifndef ATTN_RUNTIME_INTERNAL_LAUNCH_LIMITS_H
#define ATTN_RUNTIME_INTERNAL_LAUNCH_LIMITS_H

#include <cstdint>

namespace attn::runtime {

constexpr int64_t kMostThreads = 1024; // of a block
/// A size above 8 is not portable, but possible.
constexpr int64_t kMostCluster = 16;              // blocks
constexpr int64_t kMostSharedMemory = 227 * 1024; // bytes of a block

} // namespace attn::runtime

#endif // ATTN_RUNTIME_INTERNAL_LAUNCH_LIMITS_H
