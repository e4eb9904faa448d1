// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an operand's descriptor of tcgen05 describes a matrix in shared
// memory.

#ifndef ATTN_SIM_HAZARDS_UMMA_CHECK_H
#define ATTN_SIM_HAZARDS_UMMA_CHECK_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attn::sim {

class Warp;
struct MatrixDescriptor;
struct MatrixOperand;

struct UmmaOperandCheck {
  Warp &warp;
  unsigned lane;
  /// The shared addresses of what the operands read, 16 bytes each.
  std::vector<uint32_t> &chunks;

  /// Checks the descriptor `bits` of operand "A" or "B", stores it in `operand`
  /// and appends its chunks. Returns false after a fault.
  bool run(uint64_t bits, const char *name, MatrixOperand &operand);
  /// Like run(), but does not check the chunks: the caller has to check those
  /// that are appended.
  bool decode(uint64_t bits, const char *name, MatrixDescriptor &descriptor);
  /// Whether the chunks from `first` on are in shared memory.
  bool checkBounds(const char *name, size_t first);
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_UMMA_CHECK_H
