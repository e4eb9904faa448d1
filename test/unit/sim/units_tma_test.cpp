// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/float_format.h"
#include "units/tma.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

using namespace attn::sim;

namespace {

constexpr uint64_t kBase = 0x10000;

/// Global memory from kBase on.
class Memory : public GlobalPort {
public:
  explicit Memory(size_t bytes) : bytes(bytes) {}

  bool read(uint64_t address, void *to, uint32_t count) override {
    if (!holds(address, count)) {
      return false;
    }
    std::memcpy(to, &bytes[address - kBase], count);
    return true;
  }
  bool write(uint64_t address, const void *from, uint32_t count) override {
    if (!holds(address, count)) {
      return false;
    }
    std::memcpy(&bytes[address - kBase], from, count);
    return true;
  }
  bool reduce(uint64_t address, const void *from, uint32_t count, ReduceOp op,
              ReduceType type, ReduceMode mode) override {
    if (!holds(address, count)) {
      return false;
    }
    applyReduceRange(op, type, &bytes[address - kBase],
                     static_cast<const uint8_t *>(from), count, mode);
    return true;
  }

  std::vector<uint8_t> bytes;

private:
  bool holds(uint64_t address, uint32_t count) const {
    return address >= kBase && address + count <= kBase + bytes.size();
  }
};

/// A packed tensor whose rows are padded by 16 bytes.
TensorMap packed(TensorType type, std::vector<uint64_t> dims,
                 std::vector<uint32_t> box, Swizzle swizzle) {
  TensorMap map;
  map.type = type;
  map.rank = uint32_t(dims.size());
  map.globalAddress = kBase;
  map.swizzle = swizzle;
  uint64_t stride = dims[0] * elementBytes(type);
  for (uint32_t i = 0; i < map.rank; ++i) {
    map.globalDim[i] = dims[i];
    map.boxDim[i] = box[i];
    if (i > 0) {
      map.globalStrides[i - 1] = (stride + 31) / 16 * 16;
      stride = map.globalStrides[i - 1] * dims[i];
    }
  }
  return map;
}

size_t tensorBytes(const TensorMap &map) {
  size_t bytes = map.globalDim[0] * elementBytes(map.type);
  for (uint32_t i = 1; i < map.rank; ++i) {
    bytes += (map.globalDim[i] - 1) * map.globalStrides[i - 1];
  }
  return bytes;
}

/// Element by element: calls visit(global address or 0, shared address). Rows
/// of the tensor have `rowExtent` elements.
template <typename Visit>
void forEachElement(const TensorMap &map, const std::vector<int32_t> &at,
                    uint32_t shared, uint64_t rowExtent, Visit visit) {
  uint32_t e[5] = {0, 0, 0, 0, 0};
  uint32_t size = elementBytes(map.type);
  uint32_t linear = 0;
  for (e[4] = 0; e[4] < map.boxDim[4]; ++e[4]) {
    for (e[3] = 0; e[3] < map.boxDim[3]; ++e[3]) {
      for (e[2] = 0; e[2] < map.boxDim[2]; ++e[2]) {
        for (e[1] = 0; e[1] < map.boxDim[1]; ++e[1]) {
          for (e[0] = 0; e[0] < map.boxDim[0]; ++e[0]) {
            uint64_t address = map.globalAddress;
            bool inside = true;
            for (uint32_t d = 0; d < map.rank; ++d) {
              int64_t g = int64_t(at[d]) + e[d];
              inside &= g >= 0 && g < int64_t(d ? map.globalDim[d] : rowExtent);
              address += uint64_t(g) * (d ? map.globalStrides[d - 1] : size);
            }
            visit(inside ? address : 0,
                  swizzleAddress(shared + linear, map.swizzle));
            linear += size;
          }
        }
      }
    }
  }
}

struct Case {
  TensorType type;
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box;
  Swizzle swizzle;
};

const Case kCases[] = {
    {TensorType::U8, {100}, {64}, Swizzle::None},
    {TensorType::BF16, {72, 20}, {64, 16}, Swizzle::B128},
    {TensorType::BF16, {64, 20}, {32, 8}, Swizzle::B64},
    {TensorType::F16, {40, 9}, {16, 8}, Swizzle::B32},
    {TensorType::F32, {33, 5, 3}, {8, 3, 2}, Swizzle::None},
    {TensorType::F32, {40, 5, 3}, {32, 3, 2}, Swizzle::B128Atom32},
    {TensorType::F64, {20, 5, 3}, {16, 3, 2}, Swizzle::B128Atom32Flip8},
    {TensorType::U8, {130, 5, 3, 2}, {128, 3, 2, 2}, Swizzle::B128Atom64},
    {TensorType::BF16, {64, 10, 2, 3, 2}, {64, 4, 2, 1, 2}, Swizzle::B128},
};

const int32_t kStarts[] = {0, -3, 5, 100000, -100000};

void fillSequence(std::vector<uint8_t> &bytes) {
  uint32_t state = 1;
  for (uint8_t &byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = uint8_t(state >> 24);
  }
}

std::vector<int32_t> startOf(const TensorMap &map, int32_t first,
                             int32_t rest) {
  std::vector<int32_t> at(map.rank, rest);
  at[0] = first;
  return at;
}

/// Runs `check(map, coordinates, shared address)` over all cases.
template <typename Check> void forEachCase(Check check) {
  for (const Case &each : kCases) {
    TensorMap map = packed(each.type, each.dims, each.box, each.swizzle);
    if (map.swizzle <= Swizzle::B128) {
      ASSERT_EQ(validateTensorMap(map), "");
    }
    for (int32_t first : kStarts) {
      for (int32_t rest : kStarts) {
        for (uint32_t shared : {1024u, 1152u}) {
          check(map, startOf(map, first, rest), shared);
        }
      }
    }
  }
}

TEST(Tma, loadsElementByElement) {
  forEachCase([](const TensorMap &map, const std::vector<int32_t> &at,
                 uint32_t shared) {
    Memory global(tensorBytes(map));
    fillSequence(global.bytes);
    std::vector<uint8_t> image(boxBytes(map), 0xEE);
    TmaResult result = gatherBox(map, at.data(), shared, global, image.data());
    ASSERT_EQ(result.status, TmaStatus::Ok);
    ASSERT_EQ(result.boxBytes, boxBytes(map));
    uint32_t size = elementBytes(map.type);
    uint64_t inside = 0;
    forEachElement(map, at, shared, map.globalDim[0],
                   [&](uint64_t from, uint32_t to) {
                     uint64_t want = 0, got = 0;
                     if (from) {
                       std::memcpy(&want, &global.bytes[from - kBase], size);
                       inside += size;
                     }
                     std::memcpy(&got, &image[to - shared], size);
                     ASSERT_EQ(got, want);
                   });
    ASSERT_EQ(result.globalBytes, inside);
  });
}

TEST(Tma, storesElementByElementUpToAMultipleOf16Bytes) {
  forEachCase([](const TensorMap &map, const std::vector<int32_t> &at,
                 uint32_t shared) {
    Memory global(tensorBytes(map) + 16);
    uint32_t size = elementBytes(map.type);
    uint64_t rowExtent = (map.globalDim[0] * size + 15) / 16 * 16 / size;
    std::vector<uint8_t> image(boxBytes(map));
    fillSequence(image);
    ASSERT_EQ(scatterBox(map, at.data(), shared, image.data(), global).status,
              TmaStatus::Ok);
    std::vector<uint8_t> want(global.bytes.size());
    forEachElement(map, at, shared, rowExtent, [&](uint64_t to, uint32_t from) {
      if (to) {
        std::memcpy(&want[to - kBase], &image[from - shared], size);
      }
    });
    ASSERT_EQ(global.bytes, want);
  });
}

TEST(Tma, runsCoverTheBoxOnceInOrder) {
  forEachCase(
      [](const TensorMap &map, const std::vector<int32_t> &at, uint32_t) {
        uint32_t next = 0;
        for (const BoxRun &run : boxRuns(map, at.data())) {
          ASSERT_EQ(run.boxOffset, next);
          ASSERT_GT(run.bytes, 0u);
          next += run.bytes;
        }
        ASSERT_EQ(next, boxBytes(map));
      });
}

TEST(Tma, fillsWithNaN) {
  TensorMap map = packed(TensorType::BF16, {8, 1}, {8, 2}, Swizzle::None);
  map.oobFill = OobFill::NaN;
  Memory global(tensorBytes(map));
  uint16_t image[16];
  int32_t at[] = {4, 0};
  gatherBox(map, at, 0, global, reinterpret_cast<uint8_t *>(image));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(image[i], i < 4 ? 0 : 0x7FF7);
  }
}

/// The result of a load of four elements.
std::array<uint32_t, 4> load4(TensorType type, std::array<uint32_t, 4> in) {
  TensorMap map = packed(type, {4}, {4}, Swizzle::None);
  Memory global(16);
  std::memcpy(global.bytes.data(), in.data(), 16);
  std::array<uint32_t, 4> image = {};
  int32_t at[] = {0};
  gatherBox(map, at, 0, global, reinterpret_cast<uint8_t *>(image.data()));
  return image;
}

TEST(Tma, loadsRoundToTF32AndFlushNothing) {
  using Words = std::array<uint32_t, 4>;
  const Words small = {0x80000001, 0x007FFFFF, 0x807FFFFF, 0x3F800000};
  const Words rest = {0xBF7FFFFF, 0x3CDB10DF, 0x7F7FFFFF, 0xFF800001};
  for (TensorType type : {TensorType::F32, TensorType::F32Ftz}) {
    EXPECT_EQ(load4(type, small), small);
    EXPECT_EQ(load4(type, rest), rest);
  }
  for (TensorType type : {TensorType::TF32, TensorType::TF32Ftz}) {
    EXPECT_EQ(load4(type, small),
              (Words{0x80000000, 0x00800000, 0x80800000, 0x3F800000}));
    EXPECT_EQ(load4(type, rest),
              (Words{0xBF800000, 0x3CDB2000, 0x7F800000, 0x7FFFE000}));
  }
}

TEST(Tma, storesDoNotRound) {
  TensorMap map = packed(TensorType::TF32, {4}, {4}, Swizzle::None);
  Memory global(16);
  const uint32_t image[] = {0xBF7FFFFF, 0x00000001, 0xFF800001, 0x3CDB10DF};
  int32_t at[] = {0};
  scatterBox(map, at, 0, reinterpret_cast<const uint8_t *>(image), global);
  EXPECT_EQ(std::memcmp(global.bytes.data(), image, 16), 0);
}

TEST(Tma, boxesStepOverElements) {
  TensorMap map = packed(TensorType::F32, {8, 9}, {4, 5}, Swizzle::None);
  // A step along dimension 0 does nothing.
  map.elementStrides[0] = 2;
  map.elementStrides[1] = 3;
  ASSERT_EQ(boxBytes(map), 4u * 2 * 4);
  int32_t at[] = {4, 7};
  std::vector<BoxRun> runs = boxRuns(map, at);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_TRUE(runs[0].inside);
  EXPECT_EQ(runs[0].address, kBase + 7 * map.globalStrides[0] + 16);
  EXPECT_EQ(runs[0].bytes, 16u);
  // Row 7 + 3 is outside.
  EXPECT_FALSE(runs[1].inside);
  EXPECT_EQ(runs[1].boxOffset, 16u);
}

TEST(Tma, reduces) {
  TensorMap map = packed(TensorType::F32, {6}, {8}, Swizzle::None);
  // The two elements after the row's end are in its last 16 bytes.
  Memory global(32);
  float image[8];
  for (int i = 0; i < 8; ++i) {
    float value = float(i);
    image[i] = 10 + value;
    std::memcpy(&global.bytes[4 * size_t(i)], &value, 4);
  }
  int32_t at[] = {0};
  auto bytes = reinterpret_cast<uint8_t *>(image);
  TmaResult result = reduceBox(map, at, 0, bytes, ReduceOp::Add, global);
  EXPECT_EQ(result.status, TmaStatus::Ok);
  EXPECT_EQ(result.globalBytes, 32u);
  for (int i = 0; i < 8; ++i) {
    float value;
    std::memcpy(&value, &global.bytes[4 * size_t(i)], 4);
    EXPECT_EQ(value, 10 + 2 * float(i));
  }
  EXPECT_EQ(reduceBox(map, at, 0, bytes, ReduceOp::And, global).status,
            TmaStatus::BadReduction);
}

TEST(Tma, reductionsFlushByTheMapsType) {
  auto sum = [](TensorType type) {
    TensorMap map = packed(type, {4}, {4}, Swizzle::None);
    Memory global(16);
    uint32_t value = 0x00800000;
    std::memcpy(global.bytes.data(), &value, 4);
    const uint32_t image[] = {0x80000001, 0, 0, 0};
    int32_t at[] = {0};
    reduceBox(map, at, 0, reinterpret_cast<const uint8_t *>(image),
              ReduceOp::Add, global);
    std::memcpy(&value, global.bytes.data(), 4);
    return value;
  };
  EXPECT_EQ(sum(TensorType::F32), 0x007FFFFFu);
  EXPECT_EQ(sum(TensorType::TF32), 0x007FFFFFu);
  EXPECT_EQ(sum(TensorType::F32Ftz), 0x00800000u);
}

TEST(Tma, refuses) {
  TensorMap map = packed(TensorType::BF16, {64, 8}, {32, 8}, Swizzle::B128);
  EXPECT_EQ(checkTma(map, 0), TmaStatus::UnsupportedInnerBox);
  map.boxDim[0] = 64;
  EXPECT_EQ(checkTma(map, 64), TmaStatus::MisalignedShared);
  TensorMap large = packed(TensorType::U8, {64, 8}, {16, 8}, Swizzle::None);
  large.boxDim[1] = 256;
  EXPECT_EQ(checkTma(large, 0), TmaStatus::Ok);
  large.rank = 3;
  large.boxDim[2] = 57;
  EXPECT_EQ(checkTma(large, 0), TmaStatus::BoxTooLarge);
  large.interleave = 1;
  EXPECT_EQ(checkTma(large, 0), TmaStatus::UnsupportedMap);
  Memory global(tensorBytes(map) - 1);
  std::vector<uint8_t> image(boxBytes(map));
  int32_t at[] = {0, 0};
  TmaResult result = gatherBox(map, at, 0, global, image.data());
  EXPECT_EQ(result.status, TmaStatus::GlobalFault);
  EXPECT_EQ(result.address, kBase + 7 * map.globalStrides[0]);
  EXPECT_EQ(result.bytes, 128u);
  EXPECT_NE(checkBulkCopy(0, 0, 8), nullptr);
  EXPECT_NE(checkBulkCopy(8, 0, 16), nullptr);
  EXPECT_NE(checkBulkCopy(0, 8, 16), nullptr);
  EXPECT_EQ(checkBulkCopy(16, 32, 48), nullptr);
}

TEST(Tma, refusesCoordinates) {
  TensorMap map = packed(TensorType::F32, {64, 8}, {32, 8}, Swizzle::None);
  auto problem = [&](int32_t column, int32_t row, bool stores) {
    int32_t at[] = {column, row};
    return checkCoordinates(map, at, stores);
  };
  EXPECT_EQ(problem(-4, -1, false), "");
  EXPECT_EQ(problem(4, 100, true), "");
  EXPECT_EQ(problem(-2, 0, false), "coordinate 0 is -2, byte -8 of a row: "
                                   "expected a multiple of 16 bytes");
  EXPECT_EQ(problem(0, -1, true),
            "coordinate 1 of a store is -1: expected 0 or more");
  EXPECT_EQ(problem(-4, 0, true),
            "coordinate 0 of a store is -4: expected 0 or more");
}

TEST(ReduceOp, integers) {
  auto run = [](ReduceOp op, ReduceType type, uint64_t a, uint64_t b) {
    return applyReduce(op, type, a, b);
  };
  using T = ReduceType;
  EXPECT_EQ(run(ReduceOp::Add, T::U32, 0xFFFFFFFF, 2), 1u);
  EXPECT_EQ(run(ReduceOp::Min, T::S32, 0xFFFFFFFF, 2), 0xFFFFFFFFu);
  EXPECT_EQ(run(ReduceOp::Min, T::U32, 0xFFFFFFFF, 2), 2u);
  EXPECT_EQ(run(ReduceOp::Max, T::S64, ~uint64_t(0), 2), 2u);
  EXPECT_EQ(run(ReduceOp::Inc, T::U32, 5, 5), 0u);
  EXPECT_EQ(run(ReduceOp::Inc, T::U32, 4, 5), 5u);
  EXPECT_EQ(run(ReduceOp::Dec, T::U32, 0, 5), 5u);
  EXPECT_EQ(run(ReduceOp::Dec, T::U32, 9, 5), 5u);
  EXPECT_EQ(run(ReduceOp::Dec, T::U32, 3, 5), 2u);
  EXPECT_EQ(run(ReduceOp::And, T::U64, 0xFF00, 0x0FF0), 0x0F00u);
  EXPECT_EQ(run(ReduceOp::Or, T::U32, 0xFF00, 0x0FF0), 0xFFF0u);
  EXPECT_EQ(run(ReduceOp::Xor, T::U32, 0xFF00, 0x0FF0), 0xF0F0u);
}

constexpr ReduceMode kFlushes = {/*ftz=*/true, /*inShared=*/false};
constexpr ReduceMode kInShared = {/*ftz=*/false, /*inShared=*/true};

TEST(ReduceOp, doublesKeepNaNsInGlobalMemory) {
  const uint64_t signaling = 0x7FF0000000000001, quiet = 0xFFF8000000000001;
  const uint64_t one = toBits(1.0);
  auto sum = [](uint64_t memory, uint64_t operand, ReduceMode mode) {
    return applyReduce(ReduceOp::Add, ReduceType::F64, memory, operand, mode);
  };
  EXPECT_EQ(sum(signaling, one, {}), signaling);
  EXPECT_EQ(sum(one, signaling, {}), signaling);
  EXPECT_EQ(sum(quiet, signaling, {}), signaling);
  EXPECT_EQ(sum(signaling, one, kInShared), 0x7FF8000000000001u);
  EXPECT_EQ(sum(quiet, signaling, kInShared), quiet);
}

TEST(ReduceOp, floats) {
  uint64_t subnormal = 0x00400000;
  EXPECT_EQ(applyReduce(ReduceOp::Add, ReduceType::F32, subnormal, 0, kFlushes),
            0u);
  EXPECT_EQ(applyReduce(ReduceOp::Add, ReduceType::F32, subnormal, 0),
            subnormal);
  EXPECT_EQ(
      applyReduce(ReduceOp::Add, ReduceType::F64, toBits(1.5), toBits(2.0)),
      toBits(3.5));
  EXPECT_EQ(applyReduce(ReduceOp::Add, ReduceType::F16, 0x3C00, 0x3C00),
            0x4000u);
  EXPECT_EQ(applyReduce(ReduceOp::Max, ReduceType::BF16, 0x3F80, 0xBF80),
            0x3F80u);
  EXPECT_EQ(applyReduce(ReduceOp::Min, ReduceType::BF16, 0x3F80, 0xBF80),
            0xBF80u);
  EXPECT_FALSE(isReduceLegal(ReduceOp::Max, ReduceType::F32));
  EXPECT_FALSE(isReduceLegal(ReduceOp::Add, ReduceType::U8));
  EXPECT_TRUE(isReduceLegal(ReduceOp::Xor, ReduceType::S64));
  EXPECT_FALSE(isReduceLegal(ReduceOp::Inc, ReduceType::S32));
}

} // namespace
