// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory, and the windows of other spaces in generic addresses.

#ifndef ATTN_SIM_CORE_MEMORY_H
#define ATTN_SIM_CORE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attn::sim {

/// The top byte of a generic address selects its space; for global addresses it
/// is 0.
constexpr uint64_t kWindowMask = uint64_t(0xff) << 56;
constexpr uint64_t kSharedWindow = uint64_t(1) << 56;
constexpr uint64_t kLocalWindow = uint64_t(2) << 56;
constexpr uint64_t kParamWindow = uint64_t(3) << 56;

/// Shared is the CTA's own memory; SharedCluster is that of any CTA of the
/// cluster.
enum class Space : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Local,
  Param
};

inline bool isShared(Space space) {
  return space == Space::Shared || space == Space::SharedCluster;
}

/// Returns the space of a generic address, which becomes an address of that
/// space.
inline Space classify(Space space, uint64_t &address) {
  if (space != Space::Generic) {
    return space;
  }
  uint64_t window = address & kWindowMask;
  space = window == kSharedWindow  ? Space::SharedCluster
          : window == kLocalWindow ? Space::Local
          : window == kParamWindow ? Space::Param
                                   : Space::Global;
  address &= space == Space::Global ? ~uint64_t(0) : ~kWindowMask;
  return space;
}

/// The offset of a shared address in its CTA is in the lower bits; the CTA's
/// rank in the cluster is above them.
constexpr uint32_t kSharedRankShift = 24;
constexpr uint32_t kSharedOffsetMask = (1u << kSharedRankShift) - 1;

/// A range of host memory; empty if `size` is 0.
struct MemoryRange {
  const void *begin = nullptr;
  size_t size = 0;
  std::string name;
};

/// The host buffers that a kernel may access, by host address. It must not
/// change while a kernel runs.
class GlobalMemory {
public:
  /// Buffers must not overlap.
  void add(const void *begin, size_t size, std::string name = "");
  /// Adds ranges that may overlap; overlapping ranges become one buffer.
  void addAll(std::vector<MemoryRange> ranges);

  /// Whether `bytes` bytes at `address` are in one buffer.
  bool contains(uint64_t address, uint64_t bytes) const;
  /// "4 bytes past the end of 'q'", or the like.
  std::string describe(uint64_t address) const;
  /// The name of the buffer that holds `address`, "" if there is none.
  std::string nameAt(uint64_t address) const;

private:
  struct Buffer {
    uint64_t size = 0;
    std::string name;
  };

  std::map<uint64_t, Buffer> buffers;
};

/// One thread's view of global memory; remembers recently used buffers.
class GlobalView {
public:
  explicit GlobalView(const GlobalMemory &memory) : memory(memory) {}

  /// Returns the host address, or null.
  uint8_t *find(uint64_t address, uint64_t bytes) {
    if (address - lastBegin < lastSize &&
        bytes <= lastSize - (address - lastBegin)) {
      return reinterpret_cast<uint8_t *>(address);
    }
    return findSlowly(address, bytes);
  }
  std::string describe(uint64_t address) const {
    return memory.describe(address);
  }
  std::string nameAt(uint64_t address) const { return memory.nameAt(address); }

private:
  uint8_t *findSlowly(uint64_t address, uint64_t bytes);

  const GlobalMemory &memory;
  uint64_t lastBegin = 0;
  uint64_t lastSize = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_MEMORY_H
