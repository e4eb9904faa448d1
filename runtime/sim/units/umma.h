// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of one tcgen05.mma: D (M x N) = +-A (M x K) * +-B (K x N)
// (+ D * 2^-s), and the descriptor that says which (PTX ISA, "Instruction
// descriptor"). Products of blocks along K may have scales (PTX ISA, "Block
// scaling").

#ifndef ATTN_SIM_UNITS_UMMA_H
#define ATTN_SIM_UNITS_UMMA_H

#include "units/umma_operand.h"
#include "units/wgmma.h"

#include <string>

namespace attn::sim {

enum class UmmaKind : uint8_t {
  F16,
  TF32,
  F8F6F4,
  I8,
  MXF8F6F4,
  MXF4,
  MXF4NVF4
};

/// The scales of the blocks of a row of A or a column of B.
struct UmmaScaling {
  /// 1, 2 or 4; 0: there are none.
  uint32_t count = 0;
  /// A power of two; otherwise an e4m3 without sign.
  bool isPower = true;
  /// Where in a word of tensor memory the first one is, in bytes.
  uint32_t idA = 0;
  uint32_t idB = 0;
};

struct UmmaSpec {
  MatrixType a = MatrixType::BF16;
  MatrixType b = MatrixType::BF16;
  AccumulatorType d = AccumulatorType::F32;
  /// Of all CTAs together.
  uint32_t m = 128;
  uint32_t n = 8;
  bool negateA = false;
  bool negateB = false;
  /// Consecutive elements along M or N.
  bool transposeA = false;
  bool transposeB = false;
  /// s32 only.
  bool saturate = false;
  /// enable-input-d: false gives D = A*B.
  bool accumulate = true;
  /// scale-input-d.
  uint32_t scale = 0;
  /// The instruction says how many, its descriptor everything else.
  UmmaScaling scaling;
  /// Fast is as Hardware.
  WgmmaArithmetic arithmetic = WgmmaArithmetic::Hardware;
};

/// Decodes an instruction descriptor for `ctas` CTAs (1 or 2). Returns "" or
/// the error.
std::string decodeUmmaInstruction(UmmaKind kind, uint32_t bits, unsigned ctas,
                                  UmmaSpec &spec);
/// Checks that the operand can have a swizzle mode. Returns "" or the reason
/// why not.
const char *checkUmmaSwizzle(MatrixType type, bool isTransposed,
                             Swizzle swizzle);

constexpr uint32_t kUmmaRows = 64;
/// Of a block of D.
constexpr uint32_t kUmmaBlockRows = 16;

/// Where 64 rows of D are: four blocks of 16 rows, whose cell (row, column) is
/// cells[column * stride + row].
struct UmmaAccumulator {
  uint32_t *blocks[4];
  uint32_t stride;
  /// The rows of each block that are not written, a bit each.
  uint32_t disabled[4];
};

/// 64 rows and spec.n columns of D. `a` is 64 rows and `b` one for each column
/// of B, of 32 bytes each, as fetchUmmaOperand gives them.
void umma(const UmmaSpec &spec, const uint8_t *a, const uint8_t *b,
          const UmmaAccumulator &d);

/// One block of D, of kUmmaBlockRows rows, whose cell (row, column) is
/// cells[column * stride + row]. `a` and `b` are rows as in umma; the scales of
/// a row begin with those of its first block, four bytes a row.
void scaledUmma(const UmmaSpec &spec, const uint8_t *a, const uint8_t *b,
                const uint8_t *scalesOfA, const uint8_t *scalesOfB,
                uint32_t *cells, uint32_t stride);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_UMMA_H
