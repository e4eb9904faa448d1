// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix operands of wgmma: the 64-bit shared-memory descriptor, the canonical
// layouts it describes and their fetch into a dense matrix; and the fragments
// of A in registers (PTX ISA, "wgmma": matrix descriptor, strides, swizzling,
// register fragments).

#ifndef ATTN_SIM_UNITS_WGMMA_OPERAND_H
#define ATTN_SIM_UNITS_WGMMA_OPERAND_H

#include "units/swizzle.h"

namespace attn::sim {

/// The last four are of tcgen05 alone: in a byte each, and two in a byte.
enum class MatrixType : uint8_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  S8,
  U8,
  E2M3,
  E3M2,
  E2M1,
  E2M1x2
};

/// Bytes of an element in shared memory.
constexpr uint32_t matrixTypeBytes(MatrixType type) {
  return type == MatrixType::TF32                              ? 4
         : type == MatrixType::F16 || type == MatrixType::BF16 ? 2
                                                               : 1;
}
/// wgmma's K: 32 bytes.
constexpr uint32_t wgmmaK(MatrixType type) {
  return 32 / matrixTypeBytes(type);
}
constexpr int kWgmmaM = 64;
constexpr int kMaxWgmmaN = 256;

/// A decoded descriptor; bytes.
struct MatrixDescriptor {
  uint32_t start;
  uint32_t leadingOffset;
  uint32_t strideOffset;
  uint32_t baseOffset;
  Swizzle swizzle;
};

enum class OperandStatus : uint8_t {
  Ok,
  /// Bits that the descriptor leaves unused are not zero.
  ReservedBits,
  /// A base offset other than 0: not simulated.
  BaseOffset,
  /// MN-major for a type that has K-major only.
  MajorNotAllowed,
  /// A chunk lies outside shared memory.
  OutOfBounds,
};
const char *describe(OperandStatus status);

OperandStatus decodeDescriptor(uint64_t bits, MatrixDescriptor &out);
uint64_t encodeDescriptor(const MatrixDescriptor &descriptor);

/// A matrix in shared memory: `rows` along M or N, wgmmaK(type) columns along
/// K.
struct MatrixOperand {
  MatrixDescriptor descriptor;
  MatrixType type;
  /// PTX's tnspA/tnspB: consecutive elements along M or N.
  bool mnMajor;
  uint32_t rows;
};

/// The shared address of the 16-byte chunk that begins with element (row, k).
/// K-major: k is a multiple of 16 / element bytes and the chunk runs along k.
/// MN-major: row is such a multiple and the chunk runs along rows.
uint32_t chunkAddress(const MatrixOperand &operand, uint32_t row, uint32_t k);

/// Calls `visit(address)` for every 16-byte chunk of the operand, where
/// `addressOf` is chunkAddress or its like for another unit.
template <typename AddressOf, typename Visit>
void forEachChunk(const MatrixOperand &operand, AddressOf addressOf,
                  Visit visit) {
  uint32_t perChunk = 16 / matrixTypeBytes(operand.type);
  uint32_t columns = wgmmaK(operand.type);
  uint32_t rowStep = operand.mnMajor ? perChunk : 1;
  uint32_t columnStep = operand.mnMajor ? 1 : perChunk;
  for (uint32_t row = 0; row < operand.rows; row += rowStep) {
    for (uint32_t k = 0; k < columns; k += columnStep) {
      visit(addressOf(operand, row, k));
    }
  }
}

/// The shared memory of a CTA: `bytes` points at address `begin`.
struct SharedView {
  const uint8_t *bytes;
  uint32_t begin;
  uint32_t size;
};

/// Copies the operand to `out`: row after row, 32 bytes each, K contiguous. On
/// OutOfBounds, `*fault` is the chunk's address (if `fault` is given).
OperandStatus fetchOperand(const MatrixOperand &operand, SharedView shared,
                           uint8_t *out, uint32_t *fault = nullptr);

/// Registers of a warpgroup: regs[warp][i] points at the 32 lanes of register
/// i.
using FragmentRegs = uint32_t *const *const *;
using ConstFragmentRegs = const uint32_t *const *const *;

/// Copies A's four registers a thread to `out`: 64 rows of 32 bytes.
void fetchFragmentA(MatrixType type, ConstFragmentRegs regs, uint8_t *out);

/// Where register `i` of an f32 or s32 accumulator lies in D.
constexpr uint32_t accumulatorRow(uint32_t warp, uint32_t lane, uint32_t i) {
  return 16 * warp + lane / 4 + 8 * ((i >> 1) & 1);
}
constexpr uint32_t accumulatorColumn(uint32_t lane, uint32_t i) {
  return 8 * (i >> 2) + 2 * (lane % 4) + (i & 1);
}

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_WGMMA_OPERAND_H
