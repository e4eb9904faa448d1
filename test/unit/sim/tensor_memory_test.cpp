// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.ld and .st of every shape, against a map of lanes written here: which
// thread and register a cell of tensor memory is.

#include "core_kernel.h"

using namespace attn::sim;

namespace {

constexpr unsigned kColumns = 256;

enum Shape { S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2 };
constexpr const char *kNames[] = {"32x32b", "16x64b", "16x128b", "16x256b",
                                  "16x32bx2"};
constexpr Shape kShapes[] = {S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2};
/// Of 16x32bx2.
constexpr unsigned kSplit = 130;

struct Holder {
  unsigned thread;
  unsigned index;
};

/// Who holds cell (lane, column) of a move, counted from its address.
Holder holderOf(Shape shape, unsigned lane, unsigned column) {
  switch (shape) {
  case S32x32b:
    return {lane, column};
  case S16x64b:
    return {4 * (lane % 8) + 2 * (column % 2) + lane / 8, column / 2};
  case S16x128b:
    return {4 * (lane % 8) + column % 4, 2 * (column / 4) + lane / 8};
  case S16x256b:
    return {4 * (lane % 8) + column % 8 / 2,
            4 * (column / 8) + 2 * (lane / 8) + column % 2};
  case S16x32bx2:
    break;
  }
  return {lane, column};
}

struct Move {
  Shape shape;
  unsigned repeats;
  /// Of a quadrant's lanes, the first.
  unsigned lane = 0;
  bool isPacked = false;

  unsigned registers() const {
    return repeats * (shape == S16x128b ? 2 : shape == S16x256b ? 4 : 1);
  }
  unsigned columns() const {
    return repeats * (shape == S16x64b    ? 2
                      : shape == S16x128b ? 4
                      : shape == S16x256b ? 8
                                          : 1);
  }
  unsigned lanes() const { return shape == S32x32b ? 32 : 16; }
  /// Calls `visit(lane, column, thread, index)` for all cells of a warp.
  template <typename Visit> void forCells(Visit visit) const {
    for (unsigned l = 0; l < lanes(); ++l) {
      for (unsigned c = 0; c < columns(); ++c) {
        Holder holder = holderOf(shape, l, c);
        visit(lane + l, c, holder.thread, holder.index);
        if (shape == S16x32bx2) {
          visit(lane + l, kSplit + c, 16 + holder.thread, holder.index);
        }
      }
    }
  }
  std::string form(const std::string &packing) const {
    return std::string(".sync.aligned.") + kNames[shape] + ".x" +
           std::to_string(repeats) + (isPacked ? packing : "") + ".b32 ";
  }
};

std::string list(unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += (i ? ", %r" : "%r") + std::to_string(100 + i);
  }
  return text + "}";
}

/// Allocates; %r1 is the base, and %r2 the warp's quarter.
const std::string kBegin =
    "setp.lt.u32 %p1, %r0, 32;\n"
    "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 512;"
    "\nbar.sync 0;\nld.shared.b32 %r1, [smem];\nshr.u32 %r2, %r0, 5;\n"
    "shl.b32 %r2, %r2, 21;\nadd.s32 %r2, %r2, %r1;\n";
const std::string kEnd =
    "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n@%p1 tcgen05.dealloc"
    ".cta_group::1.sync.aligned.b32 %r1, 512;\n";

/// Columns 0 to 255 of the thread's lane become tid * 1000 + column.
std::string fill() {
  std::string text = "mul.lo.u32 %r3, %r0, 1000;\n";
  for (unsigned column = 0; column < kColumns; column += 64) {
    for (unsigned i = 0; i < 64; ++i) {
      text += "add.u32 %r" + std::to_string(100 + i) + ", %r3, " +
              std::to_string(column + i) + ";\n";
    }
    text += "tcgen05.st.sync.aligned.32x32b.x64.b32 [%r2+" +
            std::to_string(column) + "], " + list(64) +
            ";\ntcgen05.wait::st.sync.aligned;\n";
  }
  return text;
}

/// Writes `count` registers of each thread to `out`.
std::string writeOut(unsigned count, unsigned first = 0) {
  std::string text = "mul.lo.u32 %r4, %r0, " + std::to_string(4 * kColumns) +
                     ";\ncvt.u64.u32 %rd4, %r4;\nadd.s64 %rd4, %rd4, %rd0;\n";
  for (unsigned i = 0; i < count; ++i) {
    text += "st.global.b32 [%rd4+" + std::to_string(4 * (first + i)) + "], %r" +
            std::to_string(100 + i) + ";\n";
  }
  return text;
}

Kernel runTensor(const std::string &body, uint64_t seed) {
  Kernel kernel;
  kernel.version = "8.6";
  kernel.target = "sm_100a";
  kernel.threads = 128;
  kernel.seed = seed;
  kernel.words.resize(128 * kColumns);
  kernel.body = kBegin + body + kEnd;
  kernel.run();
  EXPECT_EQ(kernel.failure, "");
  for (const auto &[key, report] : kernel.reports.get()) {
    ADD_FAILURE() << report.text;
  }
  return kernel;
}

/// Of each shape, all repetitions that fit 128 registers and 256 columns.
std::vector<Move> allMoves(bool packed) {
  std::vector<Move> moves;
  for (Shape shape : kShapes) {
    for (unsigned repeats = 1; repeats <= 128; repeats *= 2) {
      for (unsigned lane : {0, 16}) {
        Move move{shape, repeats, lane, packed};
        unsigned columns = move.columns() * (packed ? 2 : 1);
        bool fits = shape != S16x32bx2 || kSplit + columns <= kColumns;
        if (move.registers() <= 128 && columns <= kColumns && fits &&
            lane + move.lanes() <= 32) {
          moves.push_back(move);
        }
      }
    }
  }
  return moves;
}

std::string address(const Move &move) {
  return "[%r2+" + std::to_string(move.lane << 16) + "]" +
         (move.shape == S16x32bx2 ? ", " + std::to_string(kSplit) : "");
}

class TensorMove : public testing::TestWithParam<uint64_t> {};

} // namespace

TEST_P(TensorMove, loadsEveryShape) {
  for (const Move &move : allMoves(false)) {
    Kernel kernel = runTensor(
        fill() + "tcgen05.ld" + move.form("") + list(move.registers()) + ", " +
            address(move) + ";\n" + writeOut(move.registers()) +
            "tcgen05.wait::ld.sync.aligned;\n",
        GetParam());
    for (unsigned warp = 0; warp < 4; ++warp) {
      move.forCells(
          [&](unsigned lane, unsigned column, unsigned thread, unsigned index) {
            ASSERT_EQ(kernel.words[(32 * warp + thread) * kColumns + index],
                      (32 * warp + lane) * 1000 + column)
                << kernel.body;
          });
    }
  }
}

TEST_P(TensorMove, storesEveryShape) {
  for (const Move &move : allMoves(false)) {
    std::string text = fill() + "add.u32 %r3, %r3, 500;\n";
    for (unsigned i = 0; i < move.registers(); ++i) {
      text += "add.u32 %r" + std::to_string(100 + i) + ", %r3, " +
              std::to_string(i) + ";\n";
    }
    text += "tcgen05.st" + move.form("") + address(move) + ", " +
            list(move.registers()) + ";\ntcgen05.wait::st.sync.aligned;\n";
    for (unsigned column = 0; column < kColumns; column += 128) {
      text += "tcgen05.ld.sync.aligned.32x32b.x128.b32 " + list(128) +
              ", [%r2+" + std::to_string(column) + "];\n" +
              "tcgen05.wait::ld.sync.aligned;\n" + writeOut(128, column);
    }
    Kernel kernel = runTensor(text, GetParam());
    std::vector<uint32_t> expected(128 * kColumns);
    for (unsigned i = 0; i < expected.size(); ++i) {
      expected[i] = i / kColumns * 1000 + i % kColumns;
    }
    for (unsigned warp = 0; warp < 4; ++warp) {
      move.forCells(
          [&](unsigned lane, unsigned column, unsigned thread, unsigned index) {
            expected[(32 * warp + lane) * kColumns + column] =
                (32 * warp + thread) * 1000 + 500 + index;
          });
    }
    ASSERT_EQ(kernel.words, expected) << text;
  }
}

/// Two columns of 16 bits are a register: an element of the shape's layout is a
/// pair of columns.
TEST_P(TensorMove, packsColumns) {
  for (const Move &move : allMoves(true)) {
    Kernel kernel = runTensor(
        fill() + "tcgen05.ld" + move.form(".pack::16b") +
            list(move.registers()) + ", " + address(move) + ";\n" +
            "tcgen05.wait::ld.sync.aligned;\n" + writeOut(move.registers()),
        GetParam());
    for (unsigned warp = 0; warp < 4; ++warp) {
      move.forCells(
          [&](unsigned lane, unsigned column, unsigned thread, unsigned index) {
            bool isUpper = column >= kSplit && move.shape == S16x32bx2;
            unsigned at = isUpper ? kSplit + 2 * (column - kSplit) : 2 * column;
            uint32_t low = ((32 * warp + lane) * 1000 + at) & 0xffff;
            uint32_t high = ((32 * warp + lane) * 1000 + at + 1) & 0xffff;
            ASSERT_EQ(kernel.words[(32 * warp + thread) * kColumns + index],
                      high << 16 | low)
                << kernel.body;
          });
    }
  }
}

TEST_P(TensorMove, unpacksColumns) {
  for (const Move &move : allMoves(true)) {
    std::string text = fill() + "mul.lo.u32 %r3, %r0, 65537;\n";
    for (unsigned i = 0; i < move.registers(); ++i) {
      text += "add.u32 %r" + std::to_string(100 + i) + ", %r3, " +
              std::to_string(i << 24 | i << 8) + ";\n";
    }
    text += "tcgen05.st" + move.form(".unpack::16b") + address(move) + ", " +
            list(move.registers()) + ";\ntcgen05.wait::st.sync.aligned;\n";
    for (unsigned column = 0; column < kColumns; column += 128) {
      text += "tcgen05.ld.sync.aligned.32x32b.x128.b32 " + list(128) +
              ", [%r2+" + std::to_string(column) + "];\n" +
              "tcgen05.wait::ld.sync.aligned;\n" + writeOut(128, column);
    }
    Kernel kernel = runTensor(text, GetParam());
    for (unsigned warp = 0; warp < 4; ++warp) {
      move.forCells(
          [&](unsigned lane, unsigned column, unsigned thread, unsigned index) {
            bool isUpper = column >= kSplit && move.shape == S16x32bx2;
            unsigned at = isUpper ? kSplit + 2 * (column - kSplit) : 2 * column;
            const uint32_t *cells =
                &kernel.words[(32 * warp + lane) * kColumns + at];
            uint32_t half = 32 * warp + thread + (index << 8);
            ASSERT_EQ(cells[0], half) << text;
            ASSERT_EQ(cells[1], half) << text;
          });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TensorMove, testing::Values(0, 7));
