// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/tensor_map.h"

using namespace attn::sim;

namespace {

constexpr uint64_t kAddressEnd = uint64_t(1) << 57;
constexpr uint64_t kMaxDim = uint64_t(1) << 32;
constexpr uint64_t kMaxStride = uint64_t(1) << 40;
constexpr uint32_t kMaxBox = 256;
constexpr uint32_t kMaxElementStride = 8;
constexpr uint32_t kAlignment = 16;

/// Where a field lies in the 1024 bits.
struct Field {
  uint32_t bit;
  uint32_t width;
  constexpr Field operator[](uint32_t index) const {
    return {bit + index * width, width};
  }
};
constexpr Field kAddress = {0, 64};
/// Less 1.
constexpr Field kRank = {68, 3};
constexpr Field kType = {71, 4};
constexpr Field kInterleave = {75, 2};
constexpr Field kSwizzle = {77, 2};
constexpr Field kOobFill = {79, 1};
/// TF32: the type is F32's with this bit.
constexpr Field kTF32 = {80, 1};
constexpr Field kL2Promotion = {81, 2};
/// In units of 16 bytes; their top 4 bits are elsewhere.
constexpr Field kStrides = {96, 32};
constexpr Field kStridesHigh = {224, 4};
/// These three less 1.
constexpr Field kDims = {256, 32};
constexpr Field kElementStrides = {416, 3};
constexpr Field kBox = {440, 8};
/// driverBoxBytes, and the period of the swizzle's pattern.
constexpr Field kBoxBytes = {512, 32};
constexpr Field kPeriod = {576, 32};

/// The 128 bytes as numbers. Fields do not cross 64 bits.
struct Image {
  uint64_t words[kTensorMapBytes / 8] = {};

  void set(Field field, uint64_t value) {
    words[field.bit / 64] |= value << field.bit % 64;
  }
  void replace(Field field, uint64_t value) {
    uint64_t mask =
        field.width == 64 ? ~uint64_t(0) : (uint64_t(1) << field.width) - 1;
    words[field.bit / 64] &= ~(mask << field.bit % 64);
    set(field, value & mask);
  }
  uint64_t get(Field field) const {
    uint64_t value = words[field.bit / 64] >> field.bit % 64;
    return field.width == 64 ? value
                             : value & ((uint64_t(1) << field.width) - 1);
  }
};

/// The numbers that stand for types, by TensorType.
constexpr uint8_t kTypeCodes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8};

std::string wrong(const std::string &what, const std::string &want,
                  uint64_t got) {
  return what + ": expected " + want + ", got " + std::to_string(got);
}

std::string indexed(const char *name, uint32_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

/// The driver's value for the bytes of a box. It rounds down where a copy on an
/// H200 rounds up, and counts a step along dimension 0.
uint64_t driverBoxBytes(const TensorMap &map) {
  uint64_t bytes = elementBytes(map.type);
  for (uint32_t i = 0; i < map.rank; ++i) {
    bytes *= map.boxDim[i] / map.elementStrides[i];
  }
  return bytes;
}

std::string checkKinds(const TensorMap &map) {
  if (map.type > TensorType::TF32Ftz) {
    return wrong("tensorDataType", "a type of whole bytes (0 to 12)",
                 uint64_t(map.type));
  }
  if (map.rank < 1 || map.rank > kMaxTensorRank) {
    return wrong("tensorRank", "1 to 5", map.rank);
  }
  if (map.interleave > (map.rank < 3 ? 0 : 2)) {
    return wrong("interleave", map.rank < 3 ? "0 (rank below 3)" : "0 to 2",
                 map.interleave);
  }
  if (map.swizzle > Swizzle::B128) {
    return wrong("swizzle", "0 to 3 (sm_90)", uint64_t(map.swizzle));
  }
  if (map.l2Promotion > 3) {
    return wrong("l2Promotion", "0 to 3", map.l2Promotion);
  }
  if (map.oobFill > OobFill::NaN) {
    return wrong("oobFill", "0 or 1", uint64_t(map.oobFill));
  }
  if (map.oobFill == OobFill::NaN && !isFloatingPoint(map.type)) {
    return "oobFill: NaN needs a floating-point type";
  }
  return "";
}

std::string checkGlobal(const TensorMap &map) {
  const uint32_t alignment = map.interleave == 2 ? 32 : kAlignment;
  const std::string aligned = "a multiple of " + std::to_string(alignment);
  if (map.globalAddress % alignment != 0 || map.globalAddress >= kAddressEnd) {
    return wrong("globalAddress", aligned + " below 2^57", map.globalAddress);
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.globalDim[i] < 1 || map.globalDim[i] > kMaxDim) {
      return wrong(indexed("globalDim", i), "1 to 2^32", map.globalDim[i]);
    }
  }
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    uint64_t stride = map.globalStrides[i];
    if (stride % alignment != 0 || stride >= kMaxStride) {
      return wrong(indexed("globalStrides", i), aligned + " below 2^40",
                   stride);
    }
  }
  return "";
}

std::string checkBox(const TensorMap &map) {
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.boxDim[i] < 1 || map.boxDim[i] > kMaxBox) {
      return wrong(indexed("boxDim", i), "1 to 256", map.boxDim[i]);
    }
    if (map.elementStrides[i] < 1 ||
        map.elementStrides[i] > kMaxElementStride) {
      return wrong(indexed("elementStrides", i), "1 to 8",
                   map.elementStrides[i]);
    }
  }
  if (driverBoxBytes(map) > kMaxBoxBytes) {
    return wrong("boxDim", "a box of at most 232448 bytes",
                 driverBoxBytes(map));
  }
  if (map.interleave != 0) {
    return "";
  }
  uint32_t inner = map.boxDim[0] * elementBytes(map.type);
  if (inner % kAlignment != 0) {
    return wrong("boxDim[0]", "a multiple of 16 bytes", inner);
  }
  uint32_t span = swizzleSpan(map.swizzle);
  if (span != 0 && inner > span) {
    return wrong("boxDim[0]",
                 "at most the swizzle's " + std::to_string(span) + " bytes",
                 inner);
  }
  return "";
}

} // namespace

uint32_t attn::sim::elementBytes(TensorType type) {
  switch (type) {
  case TensorType::U8:
    return 1;
  case TensorType::U16:
  case TensorType::F16:
  case TensorType::BF16:
    return 2;
  case TensorType::U32:
  case TensorType::S32:
  case TensorType::F32:
  case TensorType::F32Ftz:
  case TensorType::TF32:
  case TensorType::TF32Ftz:
    return 4;
  case TensorType::U64:
  case TensorType::S64:
  case TensorType::F64:
    return 8;
  case TensorType::U4x16Align8:
  case TensorType::U4x16Align16:
  case TensorType::U6x16Align16:
    break;
  }
  return 0;
}

bool attn::sim::isFloatingPoint(TensorType type) {
  return type >= TensorType::F16 && type <= TensorType::TF32Ftz;
}

bool attn::sim::isTF32(TensorType type) {
  return type == TensorType::TF32 || type == TensorType::TF32Ftz;
}

uint64_t attn::sim::boxBytes(const TensorMap &map) {
  uint64_t bytes = elementBytes(map.type);
  for (uint32_t i = 0; i < map.rank; ++i) {
    bytes *= boxExtent(map, i);
  }
  return bytes;
}

std::string attn::sim::validateTensorMap(const TensorMap &map) {
  std::string message = checkKinds(map);
  if (message.empty()) {
    message = checkGlobal(map);
  }
  return message.empty() ? checkBox(map) : message;
}

std::string attn::sim::encodeTensorMap(const TensorMap &map,
                                       uint8_t out[kTensorMapBytes]) {
  std::string message = validateTensorMap(map);
  if (!message.empty()) {
    return message;
  }
  Image image;
  image.set(kAddress, map.globalAddress);
  image.set(kRank, map.rank - 1);
  image.set(kType, kTypeCodes[uint32_t(map.type)]);
  image.set(kTF32, isTF32(map.type));
  image.set(kInterleave, map.interleave);
  image.set(kSwizzle, uint64_t(map.swizzle));
  image.set(kOobFill, uint64_t(map.oobFill));
  image.set(kL2Promotion, map.l2Promotion);
  for (uint32_t i = 0; i < map.rank; ++i) {
    image.set(kDims[i], map.globalDim[i] - 1);
    image.set(kBox[i], map.boxDim[i] - 1);
    image.set(kElementStrides[i], map.elementStrides[i] - 1);
  }
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    uint64_t stride = map.globalStrides[i] / kAlignment;
    image.set(kStrides[i], uint32_t(stride));
    image.set(kStridesHigh[i], stride >> 32);
  }
  image.set(kBoxBytes, driverBoxBytes(map));
  image.set(kPeriod, swizzlePeriod(map.swizzle));
  std::memcpy(out, image.words, kTensorMapBytes);
  return "";
}

/// The ISA's numbers of types are those of the encoding; TF32 and TF32Ftz, 11
/// and 12, are F32 and F32Ftz with a bit beside.
static std::string replaceType(Image &image, uint64_t value) {
  if (value > 12) {
    return wrong("elemtype", "0 to 12", value);
  }
  bool isTF32 = value > 10;
  image.replace(kType, isTF32 ? value - 4 : value);
  image.replace(kTF32, isTF32);
  return "";
}

static std::string replaceDimension(Image &image, MapField field,
                                    uint32_t ordinal, uint64_t value) {
  uint32_t count =
      field == MapField::GlobalStride ? kMaxTensorRank - 1 : kMaxTensorRank;
  if (ordinal >= count) {
    return wrong("ordinal", "less than " + std::to_string(count), ordinal);
  }
  if (field == MapField::GlobalStride) {
    image.replace(kStrides[ordinal], value / kAlignment);
    image.replace(kStridesHigh[ordinal], value / kAlignment >> 32);
  } else {
    Field all = field == MapField::BoxDim      ? kBox
                : field == MapField::GlobalDim ? kDims
                                               : kElementStrides;
    image.replace(all[ordinal], value - 1);
  }
  return "";
}

std::string attn::sim::replaceField(uint8_t bytes[kTensorMapBytes],
                                    MapField field, uint32_t ordinal,
                                    uint64_t value) {
  Image image;
  std::memcpy(image.words, bytes, kTensorMapBytes);
  std::string message;
  switch (field) {
  case MapField::GlobalAddress:
    image.replace(kAddress, value);
    break;
  case MapField::Rank:
    image.replace(kRank, value);
    break;
  case MapField::Type:
    message = replaceType(image, value);
    break;
  case MapField::Interleave:
    image.replace(kInterleave, value);
    break;
  case MapField::Swizzle:
    image.replace(kSwizzle, value);
    break;
  case MapField::OobFill:
    image.replace(kOobFill, value);
    break;
  default:
    message = replaceDimension(image, field, ordinal, value);
  }
  std::memcpy(bytes, image.words, kTensorMapBytes);
  return message;
}

static TensorType typeOf(const Image &image) {
  constexpr uint32_t count = sizeof(kTypeCodes);
  for (uint32_t i = 0; i < count; ++i) {
    if (kTypeCodes[i] == image.get(kType) &&
        isTF32(TensorType(i)) == (image.get(kTF32) != 0)) {
      return TensorType(i);
    }
  }
  return TensorType(count);
}

std::string attn::sim::decodeTensorMap(const uint8_t bytes[kTensorMapBytes],
                                       TensorMap &map) {
  Image image;
  std::memcpy(image.words, bytes, kTensorMapBytes);
  map = TensorMap();
  map.globalAddress = image.get(kAddress);
  map.rank = uint32_t(image.get(kRank)) + 1;
  map.type = typeOf(image);
  map.interleave = uint32_t(image.get(kInterleave));
  map.swizzle = Swizzle(image.get(kSwizzle));
  map.oobFill = OobFill(image.get(kOobFill));
  map.l2Promotion = uint32_t(image.get(kL2Promotion));
  for (uint32_t i = 0; i < map.rank && i < kMaxTensorRank; ++i) {
    map.globalDim[i] = image.get(kDims[i]) + 1;
    map.boxDim[i] = uint32_t(image.get(kBox[i])) + 1;
    map.elementStrides[i] = uint32_t(image.get(kElementStrides[i])) + 1;
  }
  for (uint32_t i = 0; i + 1 < map.rank && i + 1 < kMaxTensorRank; ++i) {
    uint64_t stride = image.get(kStridesHigh[i]) << 32 | image.get(kStrides[i]);
    map.globalStrides[i] = stride * kAlignment;
  }
  // All other errors in the bytes are found by encoding them again.
  Image again;
  uint8_t encoded[kTensorMapBytes];
  std::string message = encodeTensorMap(map, encoded);
  if (!message.empty()) {
    return "no tensor map, or a damaged one: " + message;
  }
  std::memcpy(again.words, encoded, kTensorMapBytes);
  auto ignore = [&](Field field) { again.replace(field, image.get(field)); };
  ignore(kBoxBytes);
  ignore(kPeriod);
  for (uint32_t i = map.rank; i < kMaxTensorRank; ++i) {
    for (Field field : {kDims[i], kBox[i], kElementStrides[i], kStrides[i - 1],
                        kStridesHigh[i - 1]}) {
      ignore(field);
    }
  }
  return std::memcmp(image.words, again.words, kTensorMapBytes) == 0
             ? ""
             : "no tensor map, or a damaged one: its fields do not agree";
}
