// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/int_math.h"

using namespace attn::sim;

namespace {

uint64_t lowMask(int width) {
  return width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

int64_t clampS32(int64_t value) {
  return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
}

} // namespace

int64_t attn::sim::signExtend(uint64_t a, int width) {
  int unused = 64 - width;
  return int64_t(a << unused) >> unused;
}

uint64_t attn::sim::shiftLeft(uint64_t a, uint32_t amount, int width) {
  return amount >= uint32_t(width) ? 0 : (a << amount) & lowMask(width);
}

uint64_t attn::sim::shiftRight(uint64_t a, uint32_t amount, int width,
                               bool isSigned) {
  if (!isSigned) {
    return amount >= uint32_t(width) ? 0 : (a & lowMask(width)) >> amount;
  }
  uint32_t clamped = amount >= uint32_t(width) ? uint32_t(width - 1) : amount;
  return uint64_t(signExtend(a, width) >> clamped) & lowMask(width);
}

/// The amount of shf.
static uint32_t funnelAmount(uint32_t amount, bool clamp) {
  return clamp ? (amount > 32 ? 32 : amount) : amount & 31;
}

uint32_t attn::sim::funnelLeft(uint32_t low, uint32_t high, uint32_t amount,
                               bool clamp) {
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t((both << funnelAmount(amount, clamp)) >> 32);
}

uint32_t attn::sim::funnelRight(uint32_t low, uint32_t high, uint32_t amount,
                                bool clamp) {
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t(both >> funnelAmount(amount, clamp));
}

uint64_t attn::sim::mulWide(uint32_t a, uint32_t b, int width, bool isSigned) {
  if (isSigned) {
    uint64_t product = uint64_t(signExtend(a, width) * signExtend(b, width));
    return product & lowMask(2 * width);
  }
  return (a & lowMask(width)) * (b & lowMask(width));
}

uint32_t attn::sim::mulHigh(uint32_t a, uint32_t b, int width, bool isSigned) {
  return uint32_t((mulWide(a, b, width, isSigned) >> width) & lowMask(width));
}

uint64_t attn::sim::mulHigh64(uint64_t a, uint64_t b, bool isSigned) {
  __extension__ using U128 = unsigned __int128;
  auto high = uint64_t((U128(a) * b) >> 64);
  if (isSigned) {
    high -= int64_t(a) < 0 ? b : 0;
    high -= int64_t(b) < 0 ? a : 0;
  }
  return high;
}

uint32_t attn::sim::mul24(uint32_t a, uint32_t b, bool isSigned, bool high) {
  uint64_t product = isSigned ? uint64_t(signExtend(a, 24) * signExtend(b, 24))
                              : uint64_t(a & 0xFFFFFF) * (b & 0xFFFFFF);
  return uint32_t(high ? product >> 16 : product);
}

int32_t attn::sim::addSatS32(int32_t a, int32_t b) {
  return int32_t(clampS32(int64_t(a) + b));
}

int32_t attn::sim::subSatS32(int32_t a, int32_t b) {
  return int32_t(clampS32(int64_t(a) - b));
}

int32_t attn::sim::madHighSatS32(int32_t a, int32_t b, int32_t c) {
  int64_t high = (int64_t(a) * b) >> 32;
  return int32_t(clampS32(high + c));
}

uint64_t attn::sim::addCarry(uint64_t a, uint64_t b, int width, bool &carry) {
  __extension__ using U128 = unsigned __int128;
  U128 sum = U128(a & lowMask(width)) + (b & lowMask(width)) + carry;
  carry = (sum >> width) & 1;
  return uint64_t(sum) & lowMask(width);
}

uint64_t attn::sim::subBorrow(uint64_t a, uint64_t b, int width, bool &borrow) {
  __extension__ using U128 = unsigned __int128;
  U128 left = a & lowMask(width);
  U128 right = U128(b & lowMask(width)) + borrow;
  borrow = left < right;
  return uint64_t(left - right) & lowMask(width);
}

uint64_t attn::sim::divide(uint64_t a, uint64_t b, int width, bool isSigned) {
  uint64_t mask = lowMask(width);
  if (!(b & mask)) {
    return mask;
  }
  if (!isSigned) {
    return (a & mask) / (b & mask);
  }
  int64_t divisor = signExtend(b, width);
  // The most negative number over -1 wraps.
  return divisor == -1 ? (uint64_t(0) - a) & mask
                       : uint64_t(signExtend(a, width) / divisor) & mask;
}

uint64_t attn::sim::remainder(uint64_t a, uint64_t b, int width,
                              bool isSigned) {
  uint64_t mask = lowMask(width);
  if (!(b & mask)) {
    return a & mask;
  }
  if (!isSigned) {
    return (a & mask) % (b & mask);
  }
  int64_t divisor = signExtend(b, width);
  return divisor == -1 ? 0 : uint64_t(signExtend(a, width) % divisor) & mask;
}

uint64_t attn::sim::sumAbsDiff(uint64_t a, uint64_t b, uint64_t c, int width,
                               bool isSigned) {
  uint64_t mask = lowMask(width);
  bool less = isSigned ? signExtend(a, width) < signExtend(b, width)
                       : (a & mask) < (b & mask);
  return (c + (less ? b - a : a - b)) & mask;
}

uint64_t attn::sim::bitFieldExtract(uint64_t a, uint32_t position,
                                    uint32_t length, int width, bool isSigned) {
  position &= 0xFF;
  length &= 0xFF;
  a &= lowMask(width);
  if (length == 0) {
    return 0;
  }
  uint32_t top = uint32_t(width - 1);
  uint32_t last = position + length - 1 < top ? position + length - 1 : top;
  bool sign = isSigned && ((a >> last) & 1);
  // The field without what lies above bit `top`.
  uint32_t available = position > top ? 0 : uint32_t(width) - position;
  uint32_t kept = length < available ? length : available;
  uint64_t field = kept ? (a >> position) & lowMask(int(kept)) : 0;
  return sign ? (field | ~lowMask(int(kept))) & lowMask(width) : field;
}

uint64_t attn::sim::bitFieldInsert(uint64_t a, uint64_t b, uint32_t position,
                                   uint32_t length, int width) {
  position &= 0xFF;
  length &= 0xFF;
  b &= lowMask(width);
  if (position >= uint32_t(width) || length == 0) {
    return b;
  }
  uint64_t field = lowMask(int(length)) << position & lowMask(width);
  return (b & ~field) | ((a << position) & field);
}

uint32_t attn::sim::bitMask(uint32_t position, uint32_t length, bool clamp) {
  if (clamp && position >= 32) {
    return 0;
  }
  uint32_t begin = position & 31;
  uint32_t end = begin + (length & 31);
  bool toTop = end >= 32 || (clamp && length >= 32);
  uint32_t above = toTop ? 0 : ~0u << end;
  return (~0u << begin) & ~above;
}

uint32_t attn::sim::signZeroExtend(uint32_t a, uint32_t position, bool isSigned,
                                   bool clamp) {
  if (clamp && position >= 32) {
    return a;
  }
  uint32_t bits = position & 31;
  if (bits == 0) {
    return 0;
  }
  return isSigned ? uint32_t(signExtend(a, int(bits)))
                  : a & uint32_t(lowMask(int(bits)));
}

uint32_t attn::sim::popCount(uint64_t a) {
  return uint32_t(__builtin_popcountll(a));
}

uint32_t attn::sim::countLeadingZeros(uint64_t a, int width) {
  a &= lowMask(width);
  return a ? uint32_t(__builtin_clzll(a) - (64 - width)) : uint32_t(width);
}

uint32_t attn::sim::bitFind(uint64_t a, int width, bool isSigned,
                            bool shiftAmount) {
  if (isSigned && signExtend(a, width) < 0) {
    a = ~a;
  }
  uint32_t zeros = countLeadingZeros(a, width);
  if (zeros == uint32_t(width)) {
    return ~0u;
  }
  return shiftAmount ? zeros : uint32_t(width) - 1 - zeros;
}

uint64_t attn::sim::bitReverse(uint64_t a, int width) {
  uint64_t result = 0;
  for (int i = 0; i < width; ++i) {
    result = result << 1 | ((a >> i) & 1);
  }
  return result;
}

uint32_t attn::sim::findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  if (base >= 32) {
    return ~0u;
  }
  if (offset == 0) {
    return (mask >> base) & 1 ? base : ~0u;
  }
  int64_t left = offset > 0 ? int64_t(offset) : -int64_t(offset);
  int step = offset > 0 ? 1 : -1;
  for (int position = int(base); position >= 0 && position < 32;
       position += step) {
    if ((mask >> position) & 1 && --left == 0) {
      return uint32_t(position);
    }
  }
  return ~0u;
}

uint32_t attn::sim::lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 8; ++i) {
    if ((table >> i) & 1) {
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
  }
  return result;
}

/// The source byte (0-7 of {b, a}) of byte `i` in the modes that take their
/// selector from two bits.
static uint32_t modeByte(PrmtMode mode, uint32_t i, uint32_t selector) {
  switch (mode) {
  case PrmtMode::F4E:
    return (selector + i) & 7;
  case PrmtMode::B4E:
    return (selector - i) & 7;
  case PrmtMode::RC8:
    return selector;
  case PrmtMode::ECL:
    return i > selector ? i : selector;
  case PrmtMode::ECR:
    return i < selector ? i : selector;
  case PrmtMode::RC16:
    return (i & 1) + 2 * (selector & 1);
  case PrmtMode::Default:
    break;
  }
  return 0;
}

uint32_t attn::sim::permuteBytes(uint32_t a, uint32_t b, uint32_t selector,
                                 PrmtMode mode) {
  uint64_t source = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t nibble = (selector >> (4 * i)) & 15;
    uint32_t from = mode == PrmtMode::Default ? nibble & 7
                                              : modeByte(mode, i, selector & 3);
    uint32_t byte = uint32_t(source >> (8 * from)) & 0xFF;
    if (mode == PrmtMode::Default && (nibble & 8)) {
      byte = byte & 0x80 ? 0xFF : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

/// The `index`-th item of `width` bits.
static int64_t item(uint32_t a, int index, int width, bool isSigned) {
  uint64_t bits = (a >> (index * width)) & lowMask(width);
  return isSigned ? signExtend(bits, width) : int64_t(bits);
}

uint32_t attn::sim::dp4a(uint32_t a, uint32_t b, uint32_t c, bool aSigned,
                         bool bSigned) {
  int64_t sum = c;
  for (int i = 0; i < 4; ++i) {
    sum += item(a, i, 8, aSigned) * item(b, i, 8, bSigned);
  }
  return uint32_t(sum);
}

uint32_t attn::sim::dp2a(uint32_t a, uint32_t b, uint32_t c, bool aSigned,
                         bool bSigned, bool high) {
  int64_t sum = c;
  for (int i = 0; i < 2; ++i) {
    sum += item(a, i, 16, aSigned) * item(b, i + (high ? 2 : 0), 8, bSigned);
  }
  return uint32_t(sum);
}

uint64_t attn::sim::convertInteger(uint64_t a, int from, bool fromSigned,
                                   int to, bool toSigned, bool saturate) {
  bool negative = fromSigned && signExtend(a, from) < 0;
  uint64_t value =
      fromSigned ? uint64_t(signExtend(a, from)) : a & lowMask(from);
  if (!saturate) {
    return value & lowMask(to);
  }
  uint64_t largest = toSigned ? lowMask(to) >> 1 : lowMask(to);
  if (!negative) {
    return value > largest ? largest : value;
  }
  if (!toSigned) {
    return 0;
  }
  int64_t smallest = -int64_t(largest) - 1;
  int64_t clamped = int64_t(value) < smallest ? smallest : int64_t(value);
  return uint64_t(clamped) & lowMask(to);
}
