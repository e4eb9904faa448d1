// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "device/host_memory.h"

#include <cinttypes>
#include <cstdio>

using namespace attn::sim;

namespace {

/// Adjacent pages of the process, in the order of addresses.
struct Mapping {
  uint64_t begin, end;
  bool readable, writable;
};

} // namespace

static std::vector<Mapping> listMappings() {
  std::vector<Mapping> mappings;
  std::FILE *file = std::fopen("/proc/self/maps", "re");
  if (!file) {
    return mappings;
  }
  uint64_t begin = 0, end = 0;
  char modes[5];
  while (std::fscanf(file, "%" SCNx64 "-%" SCNx64 " %4s%*[^\n]", &begin, &end,
                     modes) == 3) {
    mappings.push_back({begin, end, modes[0] == 'r', modes[1] == 'w'});
  }
  std::fclose(file);
  return mappings;
}

/// Returns the first inaccessible address of the range, or its end.
static uint64_t findGap(const HostRange &range,
                        const std::vector<Mapping> &mappings) {
  uint64_t at = range.address;
  uint64_t end = range.address + range.bytes;
  for (const Mapping &each : mappings) {
    bool usable = each.readable && (each.writable || !range.written);
    if (usable && each.begin <= at && at < each.end) {
      at = each.end;
    }
    if (at >= end) {
      return end;
    }
  }
  return at;
}

std::string attn::sim::findMissingMemory(const std::vector<HostRange> &ranges) {
  std::vector<Mapping> mappings = listMappings();
  if (mappings.empty()) {
    return "";
  }
  for (const HostRange &range : ranges) {
    uint64_t end = range.address + range.bytes;
    uint64_t gap = range.bytes == 0 ? end : findGap(range, mappings);
    if (gap != end) {
      return "expected the " + std::to_string(range.bytes) + " bytes of " +
             range.name + " at address " + std::to_string(range.address) +
             " to be host memory that can be " +
             (range.written ? "written" : "read") + ", got none at address " +
             std::to_string(gap);
    }
  }
  return "";
}
