// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and bit instructions whose rules are not those of C++ (PTX ISA,
// "Integer Arithmetic", "Logic and Shift", "Data Movement").

#ifndef ATTN_SIM_UNITS_INT_MATH_H
#define ATTN_SIM_UNITS_INT_MATH_H

#include "units/bits.h"

namespace attn::sim {

/// shl/shr: an amount of the width or more shifts everything out (shr.s fills
/// with the sign). `width` is 16, 32 or 64; higher bits of `a` are ignored and
/// those of the result are zero.
uint64_t shiftLeft(uint64_t a, uint32_t amount, int width);
uint64_t shiftRight(uint64_t a, uint32_t amount, int width, bool isSigned);
/// shf.{l,r}.{wrap,clamp}.b32: over {high:low}.
uint32_t funnelLeft(uint32_t low, uint32_t high, uint32_t amount, bool clamp);
uint32_t funnelRight(uint32_t low, uint32_t high, uint32_t amount, bool clamp);

/// High halves. 16-bit forms use the low 16 bits of their operands.
uint32_t mulHigh(uint32_t a, uint32_t b, int width, bool isSigned);
uint64_t mulHigh64(uint64_t a, uint64_t b, bool isSigned);
/// mul.wide: 16 -> 32, 32 -> 64.
uint64_t mulWide(uint32_t a, uint32_t b, int width, bool isSigned);
/// mul24/mad24.lo and .hi products: low 24 bits of each operand, sign-extended
/// for .s32; lo = bits 0..31 of the 48-bit product, hi = bits 16..47.
uint32_t mul24(uint32_t a, uint32_t b, bool isSigned, bool high);

/// .sat forms of s32.
int32_t addSatS32(int32_t a, int32_t b);
int32_t subSatS32(int32_t a, int32_t b);
/// mad.hi.sat.s32.
int32_t madHighSatS32(int32_t a, int32_t b, int32_t c);

/// a + b + carryIn of `width` bits (32 or 64); `carry` is read and written.
uint64_t addCarry(uint64_t a, uint64_t b, int width, bool &carry);
/// a - (b + borrow); `borrow` is read and written (PTX's CC.CF).
uint64_t subBorrow(uint64_t a, uint64_t b, int width, bool &borrow);

/// div/rem, truncating. By zero (machine specific in PTX): all ones and `a`.
uint64_t divide(uint64_t a, uint64_t b, int width, bool isSigned);
uint64_t remainder(uint64_t a, uint64_t b, int width, bool isSigned);

/// sad: c + |a - b|.
uint64_t sumAbsDiff(uint64_t a, uint64_t b, uint64_t c, int width,
                    bool isSigned);

/// bfe: `length` bits from `position` (both use their low 8 bits), filled with
/// the field's top bit (bit width-1 of `a` when the field overruns) if signed.
uint64_t bitFieldExtract(uint64_t a, uint32_t position, uint32_t length,
                         int width, bool isSigned);
/// bfi: the low `length` bits of `a` into `b` at `position`.
uint64_t bitFieldInsert(uint64_t a, uint64_t b, uint32_t position,
                        uint32_t length, int width);
/// bmsk.{clamp,wrap}.b32.
uint32_t bitMask(uint32_t position, uint32_t length, bool clamp);
/// szext.{clamp,wrap}.{u32,s32}: extends from bit `position`-1.
uint32_t signZeroExtend(uint32_t a, uint32_t position, bool isSigned,
                        bool clamp);

uint32_t popCount(uint64_t a);
/// clz of `width` bits: `width` for 0.
uint32_t countLeadingZeros(uint64_t a, int width);
/// bfind: the highest bit that differs from the sign (or the highest one), or
/// 0xffffffff. `shiftAmount`: how far to shift it to the top instead.
uint32_t bitFind(uint64_t a, int width, bool isSigned, bool shiftAmount);
uint64_t bitReverse(uint64_t a, int width);
/// fns.b32: the position of the n-th set bit from `base`, or 0xffffffff.
uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset);

/// lop3: `table` bit (a<<2 | b<<1 | c).
uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table);

enum class PrmtMode : uint8_t { Default, F4E, B4E, RC8, ECL, ECR, RC16 };
uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector,
                      PrmtMode mode = PrmtMode::Default);

/// dp4a: c + sum of four byte products; dp2a: two 16-bit by 8-bit products with
/// the low or high two bytes of b.
uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, bool aSigned, bool bSigned);
uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, bool aSigned, bool bSigned,
              bool high);

/// cvt between integers: takes `from` bits of `a`, gives `to` bits (rest zero).
/// `saturate` clamps to the destination's range instead of truncating.
uint64_t convertInteger(uint64_t a, int from, bool fromSigned, int to,
                        bool toSigned, bool saturate);

/// The low `width` bits as a signed number.
int64_t signExtend(uint64_t a, int width);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_INT_MATH_H
