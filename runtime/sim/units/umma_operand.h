// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of tcgen05 in shared memory: the descriptor of sm_100, which is
// wgmma's with other swizzle codes and a version, and the fetch of what it
// describes (PTX ISA, "Shared memory descriptor", "Canonical layouts").

#ifndef ATTN_SIM_UNITS_UMMA_OPERAND_H
#define ATTN_SIM_UNITS_UMMA_OPERAND_H

#include "units/wgmma_operand.h"

namespace attn::sim {

/// Decodes a descriptor. Returns "" or the error.
const char *decodeUmmaDescriptor(uint64_t bits, MatrixDescriptor &out);
/// For tests: version 1, everything else as given.
uint64_t encodeUmmaDescriptor(const MatrixDescriptor &descriptor);

/// Like chunkAddress, also for layouts that only tcgen05 has: 8- and 32-bit
/// types that are MN-major, and atoms of 32 bytes.
uint32_t ummaChunkAddress(const MatrixOperand &operand, uint32_t row,
                          uint32_t k);

/// Copies the operand to `out`: row after row, 32 bytes each, K contiguous, and
/// elements below 8 bits in the low bits of a byte each. False if it leaves
/// shared memory.
bool fetchUmmaOperand(const MatrixOperand &operand, SharedView shared,
                      uint8_t *out);

/// Elements of 4 or 6 bits in containers of a byte each, as tensor memory holds
/// them, to the low bits; in place.
void unpackContainers(MatrixType type, uint8_t *bytes, uint32_t count);

/// The 16 elements of 4 or 6 bits that 16 bytes of shared memory begin with, a
/// byte each, in place.
void spreadElements(uint32_t bits, uint8_t *chunk);

/// The bits of an element.
constexpr uint32_t matrixTypeBits(MatrixType type) {
  return type == MatrixType::E2M1 ? 4
         : type == MatrixType::E2M3 || type == MatrixType::E3M2
             ? 6
             : 8 * matrixTypeBytes(type);
}

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_UMMA_OPERAND_H
