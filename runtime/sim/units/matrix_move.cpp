// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/matrix_move.h"

using namespace attn::sim;

void attn::sim::ldmatrix(const MatrixRows &rows, uint32_t count,
                         bool transposed, uint32_t *const *regs) {
  for (uint32_t matrix = 0; matrix < count; ++matrix) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      uint16_t halves[2];
      for (uint32_t half = 0; half < 2; ++half) {
        MatrixElement at = matrixElement(lane, half, transposed);
        std::memcpy(&halves[half],
                    &rows.bytes[matrixRowLane(matrix, at.row)][2 * at.column],
                    2);
      }
      regs[matrix][lane] = uint32_t(halves[1]) << 16 | halves[0];
    }
  }
}

void attn::sim::stmatrix(const uint32_t *const *regs, uint32_t count,
                         bool transposed, MatrixRows &rows) {
  for (uint32_t matrix = 0; matrix < count; ++matrix) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint32_t half = 0; half < 2; ++half) {
        MatrixElement at = matrixElement(lane, half, transposed);
        auto bits = uint16_t(regs[matrix][lane] >> (16 * half));
        std::memcpy(&rows.bytes[matrixRowLane(matrix, at.row)][2 * at.column],
                    &bits, 2);
      }
    }
  }
}

void attn::sim::movmatrix(const uint32_t in[kWarpSize],
                          uint32_t out[kWarpSize]) {
  MatrixRows rows;
  uint32_t result[kWarpSize];
  uint32_t *const to[1] = {result};
  const uint32_t *const from[1] = {in};
  stmatrix(from, 1, false, rows);
  ldmatrix(rows, 1, true, to);
  std::memcpy(out, result, sizeof(result));
}
