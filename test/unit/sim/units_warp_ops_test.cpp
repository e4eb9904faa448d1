// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/f32_math.h"
#include "units/matrix_move.h"
#include "units/warp_ops.h"

#include <gtest/gtest.h>

using namespace attn::sim;

namespace {

constexpr uint32_t kAll = 0xFFFFFFFF;

struct Shuffled {
  uint32_t out[kWarpSize];
  uint32_t valid;
  uint32_t undefined;
};

/// Lane l holds 100 + l; the same b and c everywhere.
Shuffled run(ShuffleMode mode, uint32_t b, uint32_t c, uint32_t mask = kAll) {
  uint32_t value[kWarpSize], bs[kWarpSize], cs[kWarpSize];
  Shuffled result = {};
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    value[lane] = 100 + lane;
    bs[lane] = b;
    cs[lane] = c;
  }
  result.undefined =
      shuffle(mode, value, bs, cs, mask, result.out, &result.valid);
  return result;
}

TEST(Shuffle, butterfly) {
  for (uint32_t delta : {1u, 2u, 4u, 8u, 16u}) {
    Shuffled s = run(ShuffleMode::Bfly, delta, 31);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      EXPECT_EQ(s.out[lane], 100 + (lane ^ delta));
    }
    EXPECT_EQ(s.valid, kAll);
  }
}

TEST(Shuffle, widthsAsInCuda) {
  // CUDA's __shfl_*_sync of width w: c = (32 - w) << 8 | (up ? 0 : 31).
  for (uint32_t width : {2u, 4u, 8u, 16u, 32u}) {
    uint32_t segment = (32 - width) << 8;
    for (uint32_t delta = 0; delta < width; ++delta) {
      Shuffled up = run(ShuffleMode::Up, delta, segment);
      Shuffled down = run(ShuffleMode::Down, delta, segment | 31);
      Shuffled idx = run(ShuffleMode::Idx, delta, segment | 31);
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        uint32_t in = lane % width;
        bool upOk = in >= delta;
        bool downOk = in + delta < width;
        EXPECT_EQ(up.out[lane], 100 + lane - (upOk ? delta : 0));
        EXPECT_EQ((up.valid >> lane) & 1, uint32_t(upOk));
        EXPECT_EQ(down.out[lane], 100 + lane + (downOk ? delta : 0));
        EXPECT_EQ((down.valid >> lane) & 1, uint32_t(downOk));
        EXPECT_EQ(idx.out[lane], 100 + lane - in + delta);
      }
    }
  }
}

TEST(Shuffle, clampsBelowTheTop) {
  Shuffled s = run(ShuffleMode::Down, 1, 15);
  EXPECT_EQ(s.out[14], 115u);
  EXPECT_EQ(s.out[15], 115u);
  EXPECT_FALSE((s.valid >> 15) & 1);
}

TEST(Shuffle, absentSourcesAreReported) {
  Shuffled s = run(ShuffleMode::Bfly, 1, 31, 0x0000000D);
  // Lane 0 reads absent lane 1; lanes 2 and 3 read each other.
  EXPECT_EQ(s.undefined, 1u);
  EXPECT_EQ(s.out[2], 103u);
  EXPECT_EQ(s.out[1], 0u);
}

TEST(Vote, all) {
  EXPECT_TRUE(voteAll(0xFF, 0x0F));
  EXPECT_FALSE(voteAll(0x07, 0x0F));
  EXPECT_TRUE(voteAny(0x08, 0x0F));
  EXPECT_FALSE(voteAny(0xF0, 0x0F));
  EXPECT_TRUE(voteUniform(0xF0, 0x0F));
  EXPECT_TRUE(voteUniform(0x0F, 0x0F));
  EXPECT_FALSE(voteUniform(0x01, 0x0F));
  EXPECT_EQ(voteBallot(0xA5, 0x0F), 0x05u);
}

TEST(Match, anyAndAll) {
  uint64_t values[kWarpSize];
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
    values[lane] = lane % 4;
  }
  uint32_t out[kWarpSize] = {};
  matchAny(values, 0xFF, out);
  EXPECT_EQ(out[1], 0x22u);
  EXPECT_EQ(out[8], 0u);
  EXPECT_EQ(matchAll(values, 0xFF), 0u);
  EXPECT_EQ(matchAll(values, 0x11), 0x11u);
}

TEST(Redux, operations) {
  uint32_t values[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    values[lane] = lane - 4;
  }
  EXPECT_EQ(redux(ReduxOp::Add, values, kAll), 496u - 128);
  EXPECT_EQ(redux(ReduxOp::MinS32, values, kAll), uint32_t(-4));
  EXPECT_EQ(redux(ReduxOp::MinU32, values, kAll), 0u);
  EXPECT_EQ(redux(ReduxOp::MaxS32, values, kAll), 27u);
  EXPECT_EQ(redux(ReduxOp::MaxU32, values, kAll), 0xFFFFFFFFu);
  EXPECT_EQ(redux(ReduxOp::And, values, 0xF0), 0u);
  EXPECT_EQ(redux(ReduxOp::Or, values, 0xF0), 3u);
  EXPECT_EQ(redux(ReduxOp::Xor, values, 0x30), 1u);
  EXPECT_EQ(electLeader(0xF0), 4u);
}

TEST(Redux, floats) {
  uint32_t values[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    values[lane] = toBits(float(lane - 20));
  }
  values[3] = 0x7FC00000;
  EXPECT_EQ(reduxF32(true, false, false, values, kAll), toBits(11.0f));
  EXPECT_EQ(reduxF32(false, false, false, values, kAll), toBits(-20.0f));
  EXPECT_EQ(reduxF32(true, true, false, values, kAll), toBits(20.0f));
  EXPECT_EQ(reduxF32(true, false, true, values, kAll), kCanonicalNaN);
  EXPECT_EQ(reduxF32(true, true, false, values, 1), toBits(20.0f));
}

/// Element (row, column) of matrix m.
uint16_t element(uint32_t m, uint32_t row, uint32_t column) {
  return uint16_t(m << 12 | row << 4 | column);
}

MatrixRows sampleRows() {
  MatrixRows rows;
  for (uint32_t m = 0; m < 4; ++m) {
    for (uint32_t row = 0; row < 8; ++row) {
      for (uint32_t column = 0; column < 8; ++column) {
        uint16_t bits = element(m, row, column);
        std::memcpy(&rows.bytes[8 * m + row][2 * column], &bits, 2);
      }
    }
  }
  return rows;
}

TEST(MatrixMove, ldmatrixFragments) {
  MatrixRows rows = sampleRows();
  uint32_t plain[4][kWarpSize], turned[4][kWarpSize];
  uint32_t *const toPlain[] = {plain[0], plain[1], plain[2], plain[3]};
  uint32_t *const toTurned[] = {turned[0], turned[1], turned[2], turned[3]};
  ldmatrix(rows, 4, false, toPlain);
  ldmatrix(rows, 4, true, toTurned);
  for (uint32_t m = 0; m < 4; ++m) {
    for (uint32_t t = 0; t < kWarpSize; ++t) {
      uint32_t column = 2 * (t % 4);
      EXPECT_EQ(plain[m][t], uint32_t(element(m, t / 4, column + 1)) << 16 |
                                 element(m, t / 4, column));
      EXPECT_EQ(turned[m][t], uint32_t(element(m, column + 1, t / 4)) << 16 |
                                  element(m, column, t / 4));
    }
  }
}

TEST(MatrixMove, stmatrixInverts) {
  MatrixRows rows = sampleRows();
  for (bool transposed : {false, true}) {
    uint32_t regs[4][kWarpSize];
    uint32_t *const to[] = {regs[0], regs[1], regs[2], regs[3]};
    const uint32_t *const from[] = {regs[0], regs[1], regs[2], regs[3]};
    ldmatrix(rows, 4, transposed, to);
    MatrixRows back;
    stmatrix(from, 4, transposed, back);
    EXPECT_EQ(std::memcmp(&rows, &back, sizeof(rows)), 0);
  }
}

TEST(MatrixMove, movmatrixTransposes) {
  MatrixRows rows = sampleRows();
  uint32_t plain[kWarpSize], turned[kWarpSize], moved[kWarpSize];
  uint32_t *const toPlain[] = {plain};
  uint32_t *const toTurned[] = {turned};
  ldmatrix(rows, 1, false, toPlain);
  ldmatrix(rows, 1, true, toTurned);
  movmatrix(plain, moved);
  EXPECT_EQ(std::memcmp(moved, turned, sizeof(moved)), 0);
}

} // namespace
