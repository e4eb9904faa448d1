// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix (.m8n8.b16) and movmatrix: which lane's register holds
// which bytes of which row (PTX ISA, "ldmatrix").

#ifndef ATTN_SIM_UNITS_MATRIX_MOVE_H
#define ATTN_SIM_UNITS_MATRIX_MOVE_H

#include "units/bits.h"

namespace attn::sim {

/// The lane whose address is that of row `row` (0-7) of matrix `matrix` (0-3).
constexpr uint32_t matrixRowLane(uint32_t matrix, uint32_t row) {
  return 8 * matrix + row;
}

/// An element of an 8x8 matrix of 16-bit elements.
struct MatrixElement {
  uint32_t row;
  uint32_t column;
};
/// The element in half `half` (0 is low) of a lane's register.
constexpr MatrixElement matrixElement(uint32_t lane, uint32_t half,
                                      bool transposed) {
  return transposed ? MatrixElement{2 * (lane % 4) + half, lane / 4}
                    : MatrixElement{lane / 4, 2 * (lane % 4) + half};
}

/// Rows of up to four matrices, in order of matrixRowLane: 16 bytes each.
struct MatrixRows {
  uint8_t bytes[kWarpSize][16];
};

/// Registers of `count` (1, 2, 4) matrices from the first 8*count rows:
/// regs[i] points at the 32 lanes of register i.
void ldmatrix(const MatrixRows &rows, uint32_t count, bool transposed,
              uint32_t *const *regs);
/// The inverse; writes the first 8*count rows.
void stmatrix(const uint32_t *const *regs, uint32_t count, bool transposed,
              MatrixRows &rows);
/// movmatrix.sync.aligned.m8n8.trans.b16.
void movmatrix(const uint32_t in[kWarpSize], uint32_t out[kWarpSize]);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_MATRIX_MOVE_H
