// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks whether memory that a caller passes is accessible: otherwise the
// simulator's kernels would crash the process.

#ifndef ATTN_SIM_DEVICE_HOST_MEMORY_H
#define ATTN_SIM_DEVICE_HOST_MEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::sim {

/// Memory that a kernel may access.
struct HostRange {
  /// Its name in messages, for example "'lse'".
  std::string name;
  uintptr_t address = 0;
  uint64_t bytes = 0;
  bool written = false;
};

/// Describes the first of `ranges` that is not entirely memory of this process
/// that is readable and, if it is written, writable; returns "" if there is
/// none, or if the system does not provide the information.
std::string findMissingMemory(const std::vector<HostRange> &ranges);

} // namespace attn::sim

#endif // ATTN_SIM_DEVICE_HOST_MEMORY_H
