// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/umma_operand.h"

using namespace attn::sim;

namespace {

constexpr uint32_t kAddressMask = 0x3FFFF;
constexpr uint32_t kRowBytes = 32;
/// Bits 14-15, 30-31 and 53-60.
constexpr uint64_t kReserved =
    (uint64_t(3) << 14) | (uint64_t(3) << 30) | (uint64_t(0xFF) << 53);

/// The codes of bits 61-63.
struct Code {
  uint64_t code;
  Swizzle swizzle;
};
constexpr Code kCodes[] = {{0, Swizzle::None},
                           {1, Swizzle::B128Atom32},
                           {2, Swizzle::B128},
                           {4, Swizzle::B64},
                           {6, Swizzle::B32}};

uint32_t field(uint64_t bits, int at) {
  return uint32_t(bits >> at & 0x3FFF) << 4;
}

/// Columns of K that the MN-major layout keeps together.
uint32_t columnsOfPattern(Swizzle swizzle) {
  return swizzle == Swizzle::B128Atom32 ? 4 : 8;
}

/// Byte offset of element (row, k) from the start, before swizzling.
uint32_t linearOffset(const MatrixOperand &operand, uint32_t row, uint32_t k) {
  const MatrixDescriptor &d = operand.descriptor;
  uint32_t size = matrixTypeBytes(operand.type);
  uint32_t span = swizzleSpan(d.swizzle);
  if (!operand.mnMajor) {
    uint32_t along = k * size;
    return span ? row % 8 * span + row / 8 * d.strideOffset + along
                : row % 8 * 16 + row / 8 * d.strideOffset +
                      along / 16 * d.leadingOffset + along % 16;
  }
  uint32_t along = row * size;
  if (!span) {
    return along % 16 + k % 8 * 16 + along / 16 * d.strideOffset +
           k / 8 * d.leadingOffset;
  }
  uint32_t columns = columnsOfPattern(d.swizzle);
  return along % span + k % columns * span + along / span * d.leadingOffset +
         k / columns * d.strideOffset;
}

const uint8_t *chunkIn(SharedView shared, uint32_t address) {
  bool inside = address >= shared.begin && shared.size >= 16 &&
                address - shared.begin <= shared.size - 16;
  return inside ? shared.bytes + (address - shared.begin) : nullptr;
}

} // namespace

const char *attn::sim::decodeUmmaDescriptor(uint64_t bits,
                                            MatrixDescriptor &out) {
  out.start = field(bits, 0);
  out.leadingOffset = field(bits, 16);
  out.strideOffset = field(bits, 32);
  out.baseOffset = uint32_t(bits >> 49 & 7);
  out.swizzle = Swizzle::None;
  if ((bits >> 46 & 7) != 1) {
    return "bits 46 to 48, the version, are not 1";
  }
  if (bits & kReserved) {
    return "reserved bits are set";
  }
  if (bits >> 52 & 1) {
    return "bit 52 asks for an absolute leading address, which is not "
           "simulated";
  }
  if (out.baseOffset) {
    return "it has a base offset, which is not simulated";
  }
  for (const Code &each : kCodes) {
    if (each.code == bits >> 61) {
      out.swizzle = each.swizzle;
      return "";
    }
  }
  return "there is no such swizzle mode";
}

uint64_t attn::sim::encodeUmmaDescriptor(const MatrixDescriptor &descriptor) {
  uint64_t code = 0;
  for (const Code &each : kCodes) {
    code = each.swizzle == descriptor.swizzle ? each.code : code;
  }
  return (uint64_t(descriptor.start) >> 4 & 0x3FFF) |
         (uint64_t(descriptor.leadingOffset) >> 4 & 0x3FFF) << 16 |
         (uint64_t(descriptor.strideOffset) >> 4 & 0x3FFF) << 32 |
         uint64_t(1) << 46 | code << 61;
}

uint32_t attn::sim::ummaChunkAddress(const MatrixOperand &operand, uint32_t row,
                                     uint32_t k) {
  uint32_t linear = operand.descriptor.start + linearOffset(operand, row, k);
  return swizzleAddress(linear & kAddressMask, operand.descriptor.swizzle);
}

void attn::sim::unpackContainers(MatrixType type, uint8_t *bytes,
                                 uint32_t count) {
  bool isNarrow = type == MatrixType::E2M1;
  for (uint32_t i = 0; matrixTypeBits(type) < 8 && i < count; ++i) {
    bytes[i] = isNarrow ? bytes[i] >> 2 & 0xF : bytes[i] & 0x3F;
  }
}

void attn::sim::spreadElements(uint32_t bits, uint8_t *chunk) {
  uint8_t packed[16];
  std::memcpy(packed, chunk, sizeof(packed));
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t at = i * bits;
    uint32_t two = packed[at / 8] | uint32_t(packed[(at / 8 + 1) % 16]) << 8;
    chunk[i] = uint8_t(two >> at % 8 & ((1u << bits) - 1));
  }
}

/// Elements along rows, spread over as many rows.
static void spreadChunk(const uint8_t *chunk, uint32_t size, uint8_t *out) {
  for (uint32_t i = 0; i < 16 / size; ++i) {
    std::memcpy(out + i * kRowBytes, chunk + i * size, size);
  }
}

bool attn::sim::fetchUmmaOperand(const MatrixOperand &operand,
                                 SharedView shared, uint8_t *out) {
  uint32_t size = matrixTypeBytes(operand.type);
  uint32_t bits = matrixTypeBits(operand.type);
  uint32_t rowStep = operand.mnMajor ? 16 / size : 1;
  uint32_t columnStep = operand.mnMajor ? 1 : 16 / size;
  for (uint32_t row = 0; row < operand.rows; row += rowStep) {
    for (uint32_t k = 0; k < wgmmaK(operand.type); k += columnStep) {
      const uint8_t *chunk = chunkIn(shared, ummaChunkAddress(operand, row, k));
      if (!chunk) {
        return false;
      }
      uint8_t *to = out + row * kRowBytes + k * size;
      if (operand.mnMajor) {
        spreadChunk(chunk, size, to);
        continue;
      }
      std::memcpy(to, chunk, 16);
      if (bits < 8) {
        spreadElements(bits, to);
      }
    }
  }
  return true;
}
