// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each byte of a memory, the accesses with which the next one may conflict:
// the last write, and the reads since. Bytes that have always been accessed
// together share a cell, of 16, 4 or 1 bytes.

#ifndef ATTN_SIM_HAZARDS_SHADOW_H
#define ATTN_SIM_HAZARDS_SHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace attn::sim {

/// The origin of an access: a thread, or an asynchronous operation; Copy is
/// cp.async, Umma an mma or cp of tcgen05.
enum class Agent : uint8_t { Thread, Copy, Load, Store, Wgmma, Umma };

/// The scope of a strong access; None for a weak access.
enum class Scope : uint8_t { None, Cta, Cluster, Device };

/// The epoch of an operation that is not complete.
constexpr uint32_t kPending = ~0u;

/// An access by an asynchronous operation, or by the lanes of an instruction.
struct Access {
  uint64_t cta = 0;
  uint64_t cluster = 0;
  uint32_t pc = 0;
  uint32_t warp = 0;
  /// Of a clock; of threads, that of lane 0.
  uint32_t component = 0;
  uint32_t epoch = 0;
  Agent agent = Agent::Thread;
  Scope scope = Scope::None;
  /// Of the CTA in its cluster.
  uint8_t rank = 0;
  /// ld.global.nc.
  bool readOnly = false;
  /// It adds floating-point numbers, so that the sum depends on the order.
  bool adds = false;
};

/// An access and its lane; 0 is none.
class AccessId {
public:
  AccessId() = default;
  AccessId(uint32_t index, uint32_t lane) : bits(index << 5 | lane) {}
  explicit operator bool() const { return bits; }
  bool operator==(AccessId other) const { return bits == other.bits; }
  uint32_t index() const { return bits >> 5; }
  uint32_t lane() const { return bits & 31; }
  uint32_t key() const { return bits; }

private:
  uint32_t bits = 0;
};

/// The accesses of a memory; index 0 is none.
class AccessTable {
public:
  AccessTable() : accesses(1) {}
  uint32_t add(const Access &access) {
    accesses.push_back(access);
    return uint32_t(accesses.size() - 1);
  }
  Access &operator[](uint32_t index) { return accesses[index]; }
  const Access &operator[](AccessId id) const { return accesses[id.index()]; }
  /// Whether the later of two accesses implies the earlier.
  bool isSameAgent(AccessId a, AccessId b) const {
    const Access &first = accesses[a.index()];
    const Access &second = accesses[b.index()];
    return first.agent == second.agent && first.agent != Agent::Load &&
           first.component == second.component &&
           first.cluster == second.cluster &&
           (first.agent != Agent::Thread || a.lane() == b.lane());
  }

private:
  std::vector<Access> accesses;
};

struct ShadowCell {
  AccessId write;
  AccessId read;
  /// More reads: an index in Shadow's lists; 0 for none.
  uint32_t more = 0;
  /// Four cells of a quarter each in place of this one; 0 for none.
  uint32_t parts = 0;
};

class Shadow {
public:
  /// Keeps at most `maxReads` reads of a cell, those of different agents.
  explicit Shadow(uint32_t maxReads) : maxReads(maxReads) {}

  /// Calls `visit(cell, address)` for the cells of a range. A write unites the
  /// cells that it covers: `visit` must call `write`.
  template <typename Visit>
  void visit(uint64_t address, uint32_t bytes, bool writes, Visit visit) {
    uint64_t end = address + bytes;
    while (address < end) {
      uint64_t begin = address & ~uint64_t(kCellBytes - 1);
      uint64_t next = begin + kCellBytes < end ? begin + kCellBytes : end;
      visitCell(cellAt(begin), begin, kCellBytes, address, next, writes, visit);
      address = next;
    }
  }

  /// Calls `visit(id)` for the cell's reads.
  template <typename Visit>
  void forReads(const ShadowCell &cell, Visit visit) const {
    if (cell.read) {
      visit(cell.read);
    }
    if (cell.more) {
      for (AccessId id : lists[cell.more]) {
        visit(id);
      }
    }
  }

  void addRead(ShadowCell &cell, AccessId id, const AccessTable &table);
  void write(ShadowCell &cell, AccessId id);
  /// Resets a range to the state without accesses.
  void forget(uint64_t address, uint32_t bytes);

private:
  static constexpr uint32_t kCellBytes = 16;
  static constexpr uint32_t kPageCells = 256;
  using Page = std::array<ShadowCell, kPageCells>;
  using Parts = std::array<ShadowCell, 4>;

  template <typename Visit>
  void visitCell(ShadowCell &cell, uint64_t begin, uint32_t size, uint64_t from,
                 uint64_t to, bool writes, Visit &visit) {
    bool whole = from <= begin && to >= begin + size;
    if (!cell.parts && whole) {
      visit(cell, begin);
      return;
    }
    if (!cell.parts) {
      split(cell);
    }
    uint32_t part = size / 4;
    for (uint32_t i = 0; i < 4; ++i) {
      uint64_t at = begin + i * part;
      if (at < to && at + part > from) {
        visitCell((*parts[cell.parts])[i], at, part, from, to, writes, visit);
      }
    }
    if (whole && writes) {
      unite(cell);
    }
  }

  ShadowCell &cellAt(uint64_t address);
  void split(ShadowCell &cell);
  /// Unites parts that were all written by one access.
  void unite(ShadowCell &cell);
  void drop(ShadowCell &cell);

  const uint32_t maxReads;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t lastNumber = ~uint64_t(0);
  Page *lastPage = nullptr;
  std::vector<std::unique_ptr<Parts>> parts{1};
  std::vector<uint32_t> freeParts;
  std::vector<std::vector<AccessId>> lists{1};
  std::vector<uint32_t> freeLists;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_SHADOW_H
