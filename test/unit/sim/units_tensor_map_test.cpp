// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/tensor_map.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace attn::sim;

namespace {

TensorMap sample() {
  TensorMap map;
  map.type = TensorType::BF16;
  map.rank = 5;
  map.globalAddress = 0x7F0012345670;
  uint64_t dims[] = {64, 1000, 2, uint64_t(1) << 32, 3};
  uint64_t strides[] = {256, 128, (uint64_t(1) << 40) - 16, 0};
  uint32_t box[] = {64, 3, 2, 1, 256};
  for (int i = 0; i < 5; ++i) {
    map.globalDim[i] = dims[i];
    map.boxDim[i] = box[i];
  }
  for (int i = 0; i < 4; ++i) {
    map.globalStrides[i] = strides[i];
  }
  map.swizzle = Swizzle::B128;
  map.l2Promotion = 3;
  map.oobFill = OobFill::NaN;
  return map;
}

/// The complaint about `sample` after a change.
template <typename Change> std::string complaint(Change change) {
  TensorMap map = sample();
  change(map);
  uint8_t bytes[kTensorMapBytes];
  return encodeTensorMap(map, bytes);
}

/// The beginning of a complaint: the parameter's name.
std::string parameterOf(const std::string &message) {
  return message.substr(0, message.find(':'));
}

TEST(TensorMap, roundTrips) {
  TensorMap map = sample();
  uint8_t bytes[kTensorMapBytes];
  ASSERT_EQ(encodeTensorMap(map, bytes), "");
  TensorMap back;
  ASSERT_EQ(decodeTensorMap(bytes, back), "");
  EXPECT_EQ(back.type, map.type);
  EXPECT_EQ(back.rank, map.rank);
  EXPECT_EQ(back.globalAddress, map.globalAddress);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(back.globalDim[i], map.globalDim[i]);
    EXPECT_EQ(back.boxDim[i], map.boxDim[i]);
    EXPECT_EQ(back.elementStrides[i], 1u);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(back.globalStrides[i], map.globalStrides[i]);
  }
  EXPECT_EQ(back.swizzle, map.swizzle);
  EXPECT_EQ(back.l2Promotion, map.l2Promotion);
  EXPECT_EQ(back.oobFill, map.oobFill);
  EXPECT_EQ(boxBytes(back), 2u * 64 * 3 * 2 * 256);
}

TEST(TensorMap, unusedDimensionsDoNotMatter) {
  TensorMap map = sample();
  map.rank = 2;
  map.globalDim[3] = 0;
  map.boxDim[4] = 0;
  uint8_t bytes[kTensorMapBytes];
  ASSERT_EQ(encodeTensorMap(map, bytes), "");
  TensorMap back;
  ASSERT_EQ(decodeTensorMap(bytes, back), "");
  EXPECT_EQ(back.globalDim[3], 1u);
  EXPECT_EQ(back.boxDim[4], 1u);
  EXPECT_EQ(back.globalStrides[1], 0u);
}

TEST(TensorMap, complaintsNameTheParameter) {
  auto check = [](const std::string &name, auto change) {
    EXPECT_EQ(parameterOf(complaint(change)), name);
  };
  check("tensorDataType",
        [](TensorMap &m) { m.type = TensorType::U4x16Align8; });
  check("tensorRank", [](TensorMap &m) { m.rank = 0; });
  check("tensorRank", [](TensorMap &m) { m.rank = 6; });
  check("globalAddress", [](TensorMap &m) { m.globalAddress += 8; });
  check("globalDim[1]", [](TensorMap &m) { m.globalDim[1] = 0; });
  check("globalDim[3]", [](TensorMap &m) { m.globalDim[3] += 1; });
  check("globalStrides[0]", [](TensorMap &m) { m.globalStrides[0] = 8; });
  check("globalStrides[2]", [](TensorMap &m) { m.globalStrides[2] += 16; });
  check("boxDim[4]", [](TensorMap &m) { m.boxDim[4] = 257; });
  check("boxDim[1]", [](TensorMap &m) { m.boxDim[1] = 0; });
  check("boxDim[0]", [](TensorMap &m) { m.boxDim[0] = 4; });
  check("boxDim[0]", [](TensorMap &m) { m.boxDim[0] = 72; });
  check("boxDim[0]", [](TensorMap &m) { m.swizzle = Swizzle::B64; });
  check("boxDim", [](TensorMap &m) { m.boxDim[1] = 4; });
  check("elementStrides[2]", [](TensorMap &m) { m.elementStrides[2] = 9; });
  check("interleave", [](TensorMap &m) { m.interleave = 3; });
  check("interleave", [](TensorMap &m) {
    m.interleave = 1;
    m.rank = 2;
  });
  check("globalAddress", [](TensorMap &m) { m.interleave = 2; });
  check("globalAddress",
        [](TensorMap &m) { m.globalAddress = uint64_t(1) << 57; });
  check("swizzle", [](TensorMap &m) { m.swizzle = Swizzle::B128Atom32; });
  check("l2Promotion", [](TensorMap &m) { m.l2Promotion = 4; });
  check("oobFill", [](TensorMap &m) { m.oobFill = OobFill(2); });
  check("oobFill", [](TensorMap &m) { m.type = TensorType::U16; });
  EXPECT_EQ(complaint([](TensorMap &m) { m.boxDim[4] = 257; }),
            "boxDim[4]: expected 1 to 256, got 257");
}

TEST(TensorMap, rejectsOtherBytes) {
  uint8_t bytes[kTensorMapBytes] = {};
  TensorMap map;
  EXPECT_NE(decodeTensorMap(bytes, map), "");
  std::memset(bytes, 0xff, sizeof(bytes));
  EXPECT_NE(decodeTensorMap(bytes, map), "");
  // Bytes that are always zero.
  for (int i : {8, 11, 30, 31, 54, 60, 63, 68, 76, 100, 127}) {
    ASSERT_EQ(encodeTensorMap(sample(), bytes), "");
    bytes[i] ^= i == 54 ? 0x80 : 8;
    EXPECT_NE(decodeTensorMap(bytes, map), "") << i;
  }
}

/// The sample after one field was replaced.
TensorMap replaced(MapField field, uint32_t ordinal, uint64_t value) {
  uint8_t bytes[kTensorMapBytes];
  TensorMap map;
  EXPECT_EQ(encodeTensorMap(sample(), bytes), "");
  EXPECT_EQ(replaceField(bytes, field, ordinal, value), "");
  EXPECT_EQ(decodeTensorMap(bytes, map), "");
  return map;
}

TEST(TensorMap, fieldsAreReplacedAlone) {
  using F = MapField;
  EXPECT_EQ(replaced(F::GlobalAddress, 0, 0x4560).globalAddress, 0x4560u);
  EXPECT_EQ(replaced(F::GlobalDim, 1, 77).globalDim[1], 77u);
  EXPECT_EQ(replaced(F::GlobalDim, 1, 77).globalDim[0], sample().globalDim[0]);
  uint64_t stride = uint64_t(1) << 38;
  EXPECT_EQ(replaced(F::GlobalStride, 2, stride).globalStrides[2], stride);
  EXPECT_EQ(replaced(F::BoxDim, 2, 1).boxDim[2], 1u);
  EXPECT_EQ(replaced(F::ElementStride, 1, 5).elementStrides[1], 5u);
  EXPECT_EQ(replaced(F::Rank, 0, 1).rank, 2u);
  EXPECT_EQ(replaced(F::OobFill, 0, 0).oobFill, OobFill::Zeros);
  EXPECT_EQ(replaced(F::Swizzle, 0, 0).swizzle, Swizzle::None);
  uint8_t bytes[kTensorMapBytes] = {};
  EXPECT_EQ(replaceField(bytes, F::Type, 0, 13),
            "elemtype: expected 0 to 12, got 13");
  EXPECT_EQ(replaceField(bytes, F::GlobalStride, 4, 16),
            "ordinal: expected less than 4, got 4");
}

TEST(TensorMap, typesAreReplacedByTheirNumbersInTheIsa) {
  const std::pair<uint64_t, TensorType> types[] = {
      {6, TensorType::F16},    {7, TensorType::F32},
      {8, TensorType::F32Ftz}, {10, TensorType::BF16},
      {11, TensorType::TF32},  {12, TensorType::TF32Ftz}};
  for (auto [number, type] : types) {
    uint8_t bytes[kTensorMapBytes];
    TensorMap map = sample();
    map.type = TensorType::F32;
    map.swizzle = Swizzle::None;
    map.boxDim[0] = 16;
    TensorMap back;
    ASSERT_EQ(encodeTensorMap(map, bytes), "");
    EXPECT_EQ(replaceField(bytes, MapField::Type, 0, number), "");
    EXPECT_EQ(decodeTensorMap(bytes, back), "");
    EXPECT_EQ(back.type, type);
  }
}

/// Reads "type rank address dims strides box element-strides interleave swizzle
/// l2Promotion oobFill bytes"; of refused maps the bytes are "-".
bool readMap(std::istream &line, TensorMap &map, std::string &hex) {
  unsigned type = 0, swizzle = 0, fill = 0;
  line >> type >> map.rank >> map.globalAddress;
  for (uint32_t i = 0; i < map.rank; ++i) {
    line >> map.globalDim[i];
  }
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    line >> map.globalStrides[i];
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    line >> map.boxDim[i];
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    line >> map.elementStrides[i];
  }
  line >> map.interleave >> swizzle >> map.l2Promotion >> fill >> hex;
  map.type = TensorType(type);
  map.swizzle = Swizzle(swizzle);
  map.oobFill = OobFill(fill);
  return bool(line);
}

/// The first `count` bytes in hex; the driver leaves the others zero.
std::string toHex(const uint8_t *bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

TEST(TensorMap, agreesWithTheDriver) {
  std::ifstream file(ATTN_SIM_TEST_INPUTS "/tensor_maps.txt");
  std::string text;
  int encoded = 0, refused = 0;
  while (std::getline(file, text)) {
    if (text[0] == '#') {
      continue;
    }
    std::istringstream line(text);
    TensorMap map;
    std::string wanted;
    ASSERT_TRUE(readMap(line, map, wanted)) << text;
    uint8_t bytes[kTensorMapBytes] = {};
    std::string message = encodeTensorMap(map, bytes);
    if (wanted == "-") {
      EXPECT_NE(message, "") << text;
      ++refused;
      continue;
    }
    EXPECT_EQ(message, "") << text;
    EXPECT_EQ(toHex(bytes, wanted.size() / 2), wanted) << text;
    TensorMap back;
    EXPECT_EQ(decodeTensorMap(bytes, back), "") << text;
    uint8_t again[kTensorMapBytes];
    ASSERT_EQ(encodeTensorMap(back, again), "");
    EXPECT_EQ(std::memcmp(bytes, again, sizeof(bytes)), 0);
    ++encoded;
  }
  EXPECT_GE(encoded, 200);
  EXPECT_GE(refused, 50);
}

TEST(Swizzle, matchesTheChunkPictures) {
  // Row by row of the pattern: chunk c of row r lies in place c ^ f(r).
  for (uint32_t address = 0; address < 4096; address += 16) {
    uint32_t row128 = address / 128 % 8, chunk128 = address / 16 % 8;
    EXPECT_EQ(swizzleAddress(address, Swizzle::B128),
              address / 128 * 128 + (chunk128 ^ row128) * 16);
    uint32_t row64 = address / 64 % 8, chunk64 = address / 16 % 4;
    EXPECT_EQ(swizzleAddress(address, Swizzle::B64),
              address / 64 * 64 + (chunk64 ^ (row64 / 2)) * 16);
    uint32_t row32 = address / 32 % 8, chunk32 = address / 16 % 2;
    EXPECT_EQ(swizzleAddress(address, Swizzle::B32),
              address / 32 * 32 + (chunk32 ^ (row32 / 4)) * 16);
    uint32_t pair = address / 32 % 4;
    EXPECT_EQ(swizzleAddress(address, Swizzle::B128Atom32),
              address / 128 * 128 + (pair ^ (row128 % 4)) * 32 + address % 32);
    EXPECT_EQ(swizzleAddress(address, Swizzle::B128Atom64),
              address / 128 * 128 + (address / 64 % 2 ^ row128 % 2) * 64 +
                  address % 64);
  }
  for (int mode = 0; mode < 7; ++mode) {
    auto swizzle = Swizzle(mode);
    for (uint32_t a = 0; a < 2048; ++a) {
      uint32_t once = swizzleAddress(a, swizzle);
      EXPECT_EQ(swizzleAddress(once, swizzle), a);
      EXPECT_EQ(once % swizzleGranule(swizzle), a % swizzleGranule(swizzle));
      EXPECT_EQ(swizzleAddress(a + swizzlePeriod(swizzle), swizzle),
                once + swizzlePeriod(swizzle));
    }
  }
}

} // namespace
