// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of one wgmma.mma_async: D (64 x N) = +-A (64 x K) * +-B (K x
// N)
// (+ D), D in the registers of a warpgroup.

#ifndef ATTN_SIM_UNITS_WGMMA_H
#define ATTN_SIM_UNITS_WGMMA_H

#include "units/wgmma_operand.h"

namespace attn::sim {

enum class AccumulatorType : uint8_t { F32, F16, S32 };

/// How sums of floating-point products are formed.
enum class WgmmaArithmetic : uint8_t {
  /// f32 fused multiply-adds in order of k. Fastest; within K * 2^-24 of exact.
  Fast,
  /// As measured on hardware by MMA-Sim (arXiv 2511.10909): the exact products
  /// and C are shifted to the largest exponent among them (at least -126), cut
  /// toward zero to 25 fraction bits (13 for fp8), summed exactly and converted
  /// to f32 toward zero (fp8: to 13 fraction bits; f16: to nearest even).
  Hardware,
  /// Summed in double, one rounding to nearest.
  Exact,
};

struct WgmmaSpec {
  MatrixType a = MatrixType::BF16;
  MatrixType b = MatrixType::BF16;
  AccumulatorType d = AccumulatorType::F32;
  uint32_t n = 8;
  /// imm-scale-a/b == -1.
  bool negateA = false;
  bool negateB = false;
  /// scale-d: false gives D = A*B.
  bool accumulate = true;
  /// .satfinite, s32 only.
  bool saturate = false;
  WgmmaArithmetic arithmetic = WgmmaArithmetic::Hardware;
};

/// Returns the reason why PTX has no such instruction, or null.
const char *checkWgmma(const WgmmaSpec &spec);

/// 32-bit registers a thread holds of D: n/2, or n/4 for f16.
constexpr uint32_t accumulatorRegisters(AccumulatorType type, uint32_t n) {
  return type == AccumulatorType::F16 ? n / 4 : n / 2;
}

/// Computes on dense operands as fetchOperand and fetchFragmentA give them: `a`
/// is 64 rows and `b` spec.n rows (one for each column of B) of 32 bytes. D is
/// read (if spec.accumulate) and written in place.
void wgmma(const WgmmaSpec &spec, const uint8_t *a, const uint8_t *b,
           FragmentRegs d);

/// One element of the Hardware mode, for reference: c + sum a[i]*b[i] over `k`
/// raw elements. `fractionBits` is F, 25 or 13. The result is f32 bits, or f16
/// bits if `toF16`; `c` is a value of that format.
uint32_t hardwareDot(MatrixType aType, MatrixType bType, const uint8_t *a,
                     const uint8_t *b, uint32_t k, float c, bool negate,
                     bool toF16);
/// The same with other fraction bits than the type's: tcgen05 has 25 of all.
uint32_t hardwareDot(MatrixType aType, MatrixType bType, const uint8_t *a,
                     const uint8_t *b, uint32_t k, float c, bool negate,
                     bool toF16, int fractionBits);

/// One element of the Exact mode, likewise.
uint32_t exactDot(MatrixType aType, MatrixType bType, const uint8_t *a,
                  const uint8_t *b, uint32_t k, float c, bool toF16);

/// An element's value, and the exponent that the Hardware mode gives it; of one
/// in a byte.
struct MatrixElementValue {
  float value;
  int32_t exponent;
};
const MatrixElementValue *byteElements(MatrixType type);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_WGMMA_H
