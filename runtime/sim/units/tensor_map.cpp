// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/tensor_map.h"

using namespace attn::sim;

namespace {

constexpr uint64_t kMagic = 0x70614D726F736E54; // "TnsorMap"
constexpr uint32_t kVersion = 1;
constexpr uint64_t kMaxDim = uint64_t(1) << 32;
constexpr uint64_t kMaxStride = uint64_t(1) << 40;
constexpr uint32_t kMaxBox = 256;
constexpr uint32_t kAlignment = 16;

/// Our layout of the 128 bytes, every field at its natural alignment.
struct Image {
  uint64_t magic;
  uint32_t version;
  /// FNV-1a of the image with this field zero.
  uint32_t checksum;
  uint64_t globalAddress;
  uint64_t globalStrides[kMaxTensorRank - 1];
  /// Less 1, so that 2^32 fits.
  uint32_t globalDim[kMaxTensorRank];
  /// Less 1.
  uint8_t boxDim[kMaxTensorRank];
  uint8_t elementStrides[kMaxTensorRank];
  uint8_t type;
  uint8_t rank;
  uint8_t interleave;
  uint8_t swizzle;
  uint8_t l2Promotion;
  uint8_t oobFill;
  uint8_t unused[36];
};
static_assert(sizeof(Image) == kTensorMapBytes, "the image fills the map");

uint32_t checksumOf(Image image) {
  image.checksum = 0;
  uint8_t bytes[sizeof(image)];
  std::memcpy(bytes, &image, sizeof(image));
  uint32_t hash = 2166136261u;
  for (uint8_t byte : bytes) {
    hash = (hash ^ byte) * 16777619u;
  }
  return hash;
}

std::string wrong(const std::string &what, const std::string &want,
                  uint64_t got) {
  return what + ": expected " + want + ", got " + std::to_string(got);
}

std::string indexed(const char *name, uint32_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

std::string checkKinds(const TensorMap &map) {
  if (map.type > TensorType::TF32Ftz) {
    return wrong("tensorDataType", "a type of whole bytes (0 to 12)",
                 uint64_t(map.type));
  }
  if (map.rank < 1 || map.rank > kMaxTensorRank) {
    return wrong("tensorRank", "1 to 5", map.rank);
  }
  if (map.interleave != 0) {
    return wrong("interleave", "none (0)", map.interleave);
  }
  if (map.swizzle > Swizzle::B128Atom64) {
    return wrong("swizzle", "0 to 6", uint64_t(map.swizzle));
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
  if (map.globalAddress % kAlignment != 0) {
    return wrong("globalAddress", "a multiple of 16", map.globalAddress);
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.globalDim[i] < 1 || map.globalDim[i] > kMaxDim) {
      return wrong(indexed("globalDim", i), "1 to 2^32", map.globalDim[i]);
    }
  }
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    uint64_t stride = map.globalStrides[i];
    if (stride % kAlignment != 0 || stride >= kMaxStride) {
      return wrong(indexed("globalStrides", i), "a multiple of 16 below 2^40",
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
    // The driver takes 1 to 8; larger steps than 1 are not simulated.
    if (map.elementStrides[i] != 1) {
      return wrong(indexed("elementStrides", i), "1", map.elementStrides[i]);
    }
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

uint32_t attn::sim::boxBytes(const TensorMap &map) {
  uint32_t bytes = elementBytes(map.type);
  for (uint32_t i = 0; i < map.rank; ++i) {
    bytes *= map.boxDim[i];
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
  Image image = {};
  image.magic = kMagic;
  image.version = kVersion;
  image.globalAddress = map.globalAddress;
  for (uint32_t i = 0; i < kMaxTensorRank; ++i) {
    bool used = i < map.rank;
    image.globalDim[i] = used ? uint32_t(map.globalDim[i] - 1) : 0;
    image.boxDim[i] = used ? uint8_t(map.boxDim[i] - 1) : 0;
    image.elementStrides[i] = used ? uint8_t(map.elementStrides[i]) : 1;
    if (used && i > 0) {
      image.globalStrides[i - 1] = map.globalStrides[i - 1];
    }
  }
  image.type = uint8_t(map.type);
  image.rank = uint8_t(map.rank);
  image.interleave = uint8_t(map.interleave);
  image.swizzle = uint8_t(map.swizzle);
  image.l2Promotion = uint8_t(map.l2Promotion);
  image.oobFill = uint8_t(map.oobFill);
  image.checksum = checksumOf(image);
  std::memcpy(out, &image, sizeof(image));
  return "";
}

std::string attn::sim::decodeTensorMap(const uint8_t bytes[kTensorMapBytes],
                                       TensorMap &map) {
  Image image;
  std::memcpy(&image, bytes, sizeof(image));
  if (image.magic != kMagic) {
    return "no tensor map of the simulator (wrong magic)";
  }
  if (image.version != kVersion) {
    return wrong("tensor map version", std::to_string(kVersion), image.version);
  }
  if (image.checksum != checksumOf(image)) {
    return "a damaged tensor map (wrong checksum)";
  }
  map = TensorMap();
  map.type = TensorType(image.type);
  map.rank = image.rank;
  map.globalAddress = image.globalAddress;
  for (int i = 0; i < kMaxTensorRank; ++i) {
    map.globalDim[i] = uint64_t(image.globalDim[i]) + 1;
    map.boxDim[i] = uint32_t(image.boxDim[i]) + 1;
    map.elementStrides[i] = image.elementStrides[i];
  }
  std::memcpy(map.globalStrides, image.globalStrides,
              sizeof(map.globalStrides));
  map.interleave = image.interleave;
  map.swizzle = Swizzle(image.swizzle);
  map.l2Promotion = image.l2Promotion;
  map.oobFill = OobFill(image.oobFill);
  return validateTensorMap(map);
}
