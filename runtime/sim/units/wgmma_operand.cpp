// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/wgmma_operand.h"

using namespace attn::sim;

namespace {

constexpr uint32_t kAddressMask = 0x3FFFF;
constexpr uint32_t kRowBytes = 32;
/// Bits 14-15, 30-31, 46-48 and 52-61; 49-51 are the base offset.
constexpr uint64_t kReserved = (uint64_t(3) << 14) | (uint64_t(3) << 30) |
                               (uint64_t(7) << 46) | (uint64_t(0x3FF) << 52);

/// The descriptor's 2-bit layout code, by Swizzle None, B32, B64, B128.
constexpr uint64_t kSwizzleCodes[] = {0, 3, 2, 1};
constexpr Swizzle kSwizzleOfCode[] = {Swizzle::None, Swizzle::B128,
                                      Swizzle::B64, Swizzle::B32};

uint32_t field(uint64_t bits, int at) {
  return uint32_t(bits >> at & 0x3FFF) << 4;
}

/// Byte offset of element (row, k) from the start, before swizzling.
uint32_t linearOffset(const MatrixOperand &operand, uint32_t row, uint32_t k) {
  const MatrixDescriptor &d = operand.descriptor;
  uint32_t size = matrixTypeBytes(operand.type);
  uint32_t span = swizzleSpan(d.swizzle);
  if (!operand.mnMajor) {
    uint32_t along = k * size;
    if (span) {
      return (row % 8) * span + (row / 8) * d.strideOffset + along;
    }
    return (row % 8) * 16 + (row / 8) * d.strideOffset +
           (along / 16) * d.leadingOffset + along % 16;
  }
  uint32_t along = row * size;
  if (span) {
    return along % span + (k % 8) * span + (along / span) * d.leadingOffset +
           (k / 8) * d.strideOffset;
  }
  return along % 16 + (k % 8) * 16 + (along / 16) * d.strideOffset +
         (k / 8) * d.leadingOffset;
}

const uint8_t *chunkIn(SharedView shared, uint32_t address) {
  bool inside = address >= shared.begin && shared.size >= 16 &&
                address - shared.begin <= shared.size - 16;
  return inside ? shared.bytes + (address - shared.begin) : nullptr;
}

} // namespace

const char *attn::sim::describe(OperandStatus status) {
  switch (status) {
  case OperandStatus::Ok:
    return "ok";
  case OperandStatus::ReservedBits:
    return "reserved bits of the matrix descriptor are set";
  case OperandStatus::BaseOffset:
    return "the matrix descriptor has a base offset";
  case OperandStatus::MajorNotAllowed:
    return "only 16-bit types may be MN-major";
  case OperandStatus::OutOfBounds:
    return "the matrix lies outside shared memory";
  }
  return "";
}

OperandStatus attn::sim::decodeDescriptor(uint64_t bits,
                                          MatrixDescriptor &out) {
  out.start = field(bits, 0);
  out.leadingOffset = field(bits, 16);
  out.strideOffset = field(bits, 32);
  out.baseOffset = uint32_t(bits >> 49 & 7);
  out.swizzle = kSwizzleOfCode[bits >> 62];
  if (bits & kReserved) {
    return OperandStatus::ReservedBits;
  }
  return out.baseOffset ? OperandStatus::BaseOffset : OperandStatus::Ok;
}

uint64_t attn::sim::encodeDescriptor(const MatrixDescriptor &descriptor) {
  return (uint64_t(descriptor.start) >> 4 & 0x3FFF) |
         (uint64_t(descriptor.leadingOffset) >> 4 & 0x3FFF) << 16 |
         (uint64_t(descriptor.strideOffset) >> 4 & 0x3FFF) << 32 |
         uint64_t(descriptor.baseOffset & 7) << 49 |
         kSwizzleCodes[int(descriptor.swizzle)] << 62;
}

uint32_t attn::sim::chunkAddress(const MatrixOperand &operand, uint32_t row,
                                 uint32_t k) {
  uint32_t linear = operand.descriptor.start + linearOffset(operand, row, k);
  return swizzleAddress(linear & kAddressMask, operand.descriptor.swizzle);
}

/// Chunks of two bytes per element along rows, spread over eight rows.
static void spreadChunk(const uint8_t *chunk, uint8_t *out) {
  for (int i = 0; i < 8; ++i) {
    std::memcpy(out + i * kRowBytes, chunk + 2 * i, 2);
  }
}

OperandStatus attn::sim::fetchOperand(const MatrixOperand &operand,
                                      SharedView shared, uint8_t *out,
                                      uint32_t *fault) {
  uint32_t size = matrixTypeBytes(operand.type);
  if (operand.mnMajor && size != 2) {
    return OperandStatus::MajorNotAllowed;
  }
  uint32_t rowStep = operand.mnMajor ? 8 : 1;
  uint32_t columnStep = operand.mnMajor ? 1 : 16 / size;
  for (uint32_t row = 0; row < operand.rows; row += rowStep) {
    for (uint32_t k = 0; k < wgmmaK(operand.type); k += columnStep) {
      uint32_t address = chunkAddress(operand, row, k);
      const uint8_t *chunk = chunkIn(shared, address);
      if (!chunk) {
        if (fault) {
          *fault = address;
        }
        return OperandStatus::OutOfBounds;
      }
      uint8_t *to = out + row * kRowBytes + k * size;
      if (operand.mnMajor) {
        spreadChunk(chunk, to);
      } else {
        std::memcpy(to, chunk, 16);
      }
    }
  }
  return OperandStatus::Ok;
}

void attn::sim::fetchFragmentA(MatrixType, ConstFragmentRegs regs,
                               uint8_t *out) {
  // Every type's fragment is the same in bytes: a register holds the four bytes
  // from 4 * (lane % 4) of a 16-byte half of the row.
  for (uint32_t warp = 0; warp < kWarpsPerGroup; ++warp) {
    for (uint32_t i = 0; i < 4; ++i) {
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        uint32_t row = 16 * warp + lane / 4 + 8 * (i & 1);
        std::memcpy(out + row * kRowBytes + 16 * (i >> 1) + 4 * (lane % 4),
                    &regs[warp][i][lane], 4);
      }
    }
  }
}
