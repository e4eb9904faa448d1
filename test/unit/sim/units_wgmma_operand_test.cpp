// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/wgmma_operand.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

using namespace attn::sim;

namespace {

constexpr uint32_t kBegin = 1024;
constexpr uint32_t kSize = 200 * 1024;

/// A value for element (row, k) of `size` bytes.
uint32_t valueOf(uint32_t row, uint32_t k, uint32_t size) {
  uint32_t hash = (row * 40503u + k * 2654435761u) ^ (row << 7);
  return size == 4 ? hash : hash & ((1u << (8 * size)) - 1);
}

/// Swizzled tiles as pictures: atoms of 8 lines of `span` bytes, 16-byte chunk
/// c of line r in place c ^ (the picture's row key).
uint32_t placeInAtom(uint32_t line, uint32_t byte, uint32_t span) {
  uint32_t key = span == 128 ? line : span == 64 ? line / 2 : line / 4;
  return line * span + ((byte / 16) ^ key) * 16 + byte % 16;
}

struct Layout {
  Swizzle swizzle;
  bool mnMajor;
  MatrixType type;
};

/// Where element (row, k) of a tile of `rows` by `depth` lies, and the strides
/// that describe it, in the layouts that kernels use.
class Tile {
public:
  Tile(Layout layout, uint32_t rows, uint32_t depth)
      : layout(layout), rows(rows), depth(depth),
        size(matrixTypeBytes(layout.type)), span(swizzleSpan(layout.swizzle)) {}

  uint32_t place(uint32_t row, uint32_t k) const {
    uint32_t line = layout.mnMajor ? k : row;
    uint32_t byte = (layout.mnMajor ? row : k) * size;
    uint32_t lines = layout.mnMajor ? depth : rows;
    if (span == 0) {
      // Core matrices of 8 lines of 16 bytes, lines' groups first.
      return (byte / 16) * (lines / 8 * 128) + (line / 8) * 128 +
             (line % 8) * 16 + byte % 16;
    }
    // Panels of one span, each with all lines.
    return (byte / span) * (lines * span) + (line / 8) * (8 * span) +
           placeInAtom(line % 8, byte % span, span);
  }

  /// The operand of one instruction at row 0 and column `k`.
  MatrixOperand operandAt(uint32_t k, uint32_t base) const {
    MatrixOperand operand;
    operand.type = layout.type;
    operand.mnMajor = layout.mnMajor;
    operand.rows = rows;
    MatrixDescriptor &d = operand.descriptor;
    d.swizzle = layout.swizzle;
    d.baseOffset = 0;
    if (!layout.mnMajor) {
      d.leadingOffset = span ? 16 : rows / 8 * 128;
      d.strideOffset = span ? 8 * span : 128;
      uint32_t byte = k * size;
      d.start = base + (span ? byte / span * (rows * span) + byte % span
                             : byte / 16 * (rows / 8 * 128));
    } else if (span) {
      d.leadingOffset = depth * span;
      d.strideOffset = 8 * span;
      d.start = base + k / 8 * (8 * span);
    } else {
      d.leadingOffset = 128;
      d.strideOffset = depth / 8 * 128;
      d.start = base + k / 8 * 128;
    }
    return operand;
  }

  const Layout layout;
  const uint32_t rows, depth, size, span;
};

void checkTile(const Tile &tile) {
  std::vector<uint8_t> memory(kSize, 0xEE);
  SharedView shared = {memory.data(), kBegin, kSize};
  uint32_t base = 4096;
  for (uint32_t row = 0; row < tile.rows; ++row) {
    for (uint32_t k = 0; k < tile.depth; ++k) {
      uint32_t value = valueOf(row, k, tile.size);
      std::memcpy(&memory[base - kBegin + tile.place(row, k)], &value,
                  tile.size);
    }
  }
  uint32_t step = wgmmaK(tile.layout.type);
  std::vector<uint8_t> out(tile.rows * 32);
  for (uint32_t first = 0; first < tile.depth; first += step) {
    MatrixOperand operand = tile.operandAt(first, base);
    MatrixDescriptor through;
    ASSERT_EQ(decodeDescriptor(encodeDescriptor(operand.descriptor), through),
              OperandStatus::Ok);
    operand.descriptor = through;
    ASSERT_EQ(fetchOperand(operand, shared, out.data()), OperandStatus::Ok);
    for (uint32_t row = 0; row < tile.rows; ++row) {
      for (uint32_t k = 0; k < step; ++k) {
        uint32_t got = 0;
        std::memcpy(&got, &out[row * 32 + k * tile.size], tile.size);
        ASSERT_EQ(got, valueOf(row, first + k, tile.size))
            << "row " << row << " k " << first + k << " rows " << tile.rows
            << " swizzle " << int(tile.layout.swizzle) << " mn "
            << tile.layout.mnMajor;
      }
    }
  }
}

constexpr Swizzle kModes[] = {Swizzle::None, Swizzle::B32, Swizzle::B64,
                              Swizzle::B128};

TEST(WgmmaOperand, fetchesKMajorTilesOfAllTypesAndSizes) {
  for (Swizzle swizzle : kModes) {
    for (MatrixType type :
         {MatrixType::BF16, MatrixType::TF32, MatrixType::E4M3}) {
      for (uint32_t rows = 8; rows <= 256; rows += 8) {
        checkTile(
            Tile({swizzle, false, type}, rows, 256 / matrixTypeBytes(type)));
      }
    }
  }
}

TEST(WgmmaOperand, fetchesMnMajorTilesOfAllSizes) {
  for (Swizzle swizzle : kModes) {
    uint32_t span = swizzleSpan(swizzle);
    for (uint32_t rows = 8; rows <= 256; rows += 8) {
      if (span == 0 || rows * 2 % span == 0) {
        checkTile(Tile({swizzle, true, MatrixType::F16}, rows, 64));
      }
    }
  }
}

TEST(WgmmaOperand, mnMajorPartOfAPanelStaysInIt) {
  // N = 40 of a panel of 64 columns.
  Tile tile({Swizzle::B128, true, MatrixType::BF16}, 64, 32);
  MatrixOperand operand = tile.operandAt(0, 2048);
  operand.rows = 40;
  std::set<uint32_t> seen;
  forEachChunk(operand, chunkAddress, [&](uint32_t address) {
    EXPECT_GE(address, 2048u);
    EXPECT_LT(address, 2048u + 2 * 1024);
    EXPECT_EQ(address % 16, 0u);
    EXPECT_TRUE(seen.insert(address).second);
  });
  EXPECT_EQ(seen.size(), 40u * 16 * 2 / 16);
}

TEST(WgmmaOperand, decodesTheFields) {
  // Start 0x12340, LBO 0x10, SBO 0x400, 128-byte swizzle.
  uint64_t bits =
      0x1234 | uint64_t(1) << 16 | uint64_t(0x40) << 32 | uint64_t(1) << 62;
  MatrixDescriptor d;
  ASSERT_EQ(decodeDescriptor(bits, d), OperandStatus::Ok);
  EXPECT_EQ(d.start, 0x12340u);
  EXPECT_EQ(d.leadingOffset, 0x10u);
  EXPECT_EQ(d.strideOffset, 0x400u);
  EXPECT_EQ(d.swizzle, Swizzle::B128);
  EXPECT_EQ(encodeDescriptor(d), bits);
  EXPECT_EQ(decodeDescriptor(bits | uint64_t(1) << 49, d),
            OperandStatus::BaseOffset);
  for (int i : {14, 15, 30, 31, 46, 47, 48, 52, 61}) {
    EXPECT_EQ(decodeDescriptor(bits | uint64_t(1) << i, d),
              OperandStatus::ReservedBits);
  }
  decodeDescriptor(uint64_t(3) << 62, d);
  EXPECT_EQ(d.swizzle, Swizzle::B32);
  decodeDescriptor(uint64_t(2) << 62, d);
  EXPECT_EQ(d.swizzle, Swizzle::B64);
}

TEST(WgmmaOperand, faults) {
  std::vector<uint8_t> memory(4096);
  SharedView shared = {memory.data(), kBegin, 4096};
  MatrixOperand operand = {
      {kBegin, 0, 1024, 0, Swizzle::B128}, MatrixType::BF16, false, 40};
  std::vector<uint8_t> out(256 * 32);
  uint32_t fault = 0;
  EXPECT_EQ(fetchOperand(operand, shared, out.data(), &fault),
            OperandStatus::OutOfBounds);
  EXPECT_EQ(fault, kBegin + 4096);
  operand.rows = 32;
  EXPECT_EQ(fetchOperand(operand, shared, out.data()), OperandStatus::Ok);
  operand.descriptor.start = 0;
  EXPECT_EQ(fetchOperand(operand, shared, out.data()),
            OperandStatus::OutOfBounds);
  operand.type = MatrixType::E4M3;
  operand.mnMajor = true;
  EXPECT_EQ(fetchOperand(operand, shared, out.data()),
            OperandStatus::MajorNotAllowed);
}

TEST(WgmmaOperand, fragmentsOfA) {
  uint32_t storage[4][4][kWarpSize];
  const uint32_t *pointers[4][4];
  const uint32_t *const *regs[4];
  for (MatrixType type : {MatrixType::BF16, MatrixType::TF32, MatrixType::S8}) {
    uint32_t size = matrixTypeBytes(type);
    for (uint32_t warp = 0; warp < 4; ++warp) {
      regs[warp] = pointers[warp];
      for (uint32_t i = 0; i < 4; ++i) {
        pointers[warp][i] = storage[warp][i];
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
          uint32_t word = 0;
          for (uint32_t e = 0; e < 4 / size; ++e) {
            // The ISA's figures, type by type.
            uint32_t row = 16 * warp + lane / 4 + (i % 2 ? 8 : 0);
            uint32_t k = size == 2   ? lane % 4 * 2 + e + (i < 2 ? 0 : 8)
                         : size == 4 ? lane % 4 + (i < 2 ? 0 : 4)
                                     : lane % 4 * 4 + e + (i < 2 ? 0 : 16);
            word |= valueOf(row, k, size) << (8 * size * e);
          }
          storage[warp][i][lane] = word;
        }
      }
    }
    uint8_t out[64 * 32];
    fetchFragmentA(type, regs, out);
    for (uint32_t row = 0; row < 64; ++row) {
      for (uint32_t k = 0; k < wgmmaK(type); ++k) {
        uint32_t got = 0;
        std::memcpy(&got, &out[row * 32 + k * size], size);
        ASSERT_EQ(got, valueOf(row, k, size));
      }
    }
  }
}

TEST(WgmmaOperand, everyTypeDescribesItsFaults) {
  EXPECT_STRNE(describe(OperandStatus::OutOfBounds), "");
}

} // namespace
