// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether memory that a caller names is there: the simulator's kernels would
// otherwise end the process.

#ifndef ATTN_SIM_DEVICE_HOST_MEMORY_H
#define ATTN_SIM_DEVICE_HOST_MEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::sim {

/// Memory that a kernel may access.
struct HostRange {
  /// As messages name it, for example "'lse'".
  std::string name;
  uintptr_t address = 0;
  uint64_t bytes = 0;
  bool written = false;
};

/// Returns what is wrong with the first of `ranges` that is not wholly memory
/// of this process that can be read and, where it is written, written; "" if
/// there is none, and where the system does not tell.
std::string findMissingMemory(const std::vector<HostRange> &ranges);

} // namespace attn::sim

#endif // ATTN_SIM_DEVICE_HOST_MEMORY_H
