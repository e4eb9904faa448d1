// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps (the 128 bytes behind CUtensorMap): validation as by
// cuTensorMapEncodeTiled, its encoding and the inverse. The layout is not
// documented; it was derived from the encodings that the driver (CUDA 13.0 on
// an H200) makes of some thousand maps. This code agrees with all of them bit
// by bit. Maps of sub-byte types and of swizzles that sm_90 lacks are refused,
// as there.

#ifndef ATTN_SIM_UNITS_TENSOR_MAP_H
#define ATTN_SIM_UNITS_TENSOR_MAP_H

#include "units/swizzle.h"

#include <string>

namespace attn::sim {

constexpr int kMaxTensorRank = 5;
constexpr int kTensorMapBytes = 128;

/// Numbered as CUtensorMapDataType.
enum class TensorType : uint8_t {
  U8 = 0,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  U4x16Align8,
  U4x16Align16,
  U6x16Align16,
};

enum class OobFill : uint8_t { Zeros = 0, NaN = 1 };

/// The parameters of cuTensorMapEncodeTiled in its order. Dimension 0 is
/// contiguous; `globalStrides[i]` is the stride of dimension i+1 in bytes.
struct TensorMap {
  TensorType type = TensorType::U8;
  uint32_t rank = 1;
  uint64_t globalAddress = 0;
  uint64_t globalDim[kMaxTensorRank] = {1, 1, 1, 1, 1};
  uint64_t globalStrides[kMaxTensorRank - 1] = {0, 0, 0, 0};
  uint32_t boxDim[kMaxTensorRank] = {1, 1, 1, 1, 1};
  uint32_t elementStrides[kMaxTensorRank] = {1, 1, 1, 1, 1};
  uint32_t interleave = 0;
  Swizzle swizzle = Swizzle::None;
  uint32_t l2Promotion = 0;
  OobFill oobFill = OobFill::Zeros;
};

/// Bytes of an element; 0 for the sub-byte types, which are not simulated.
uint32_t elementBytes(TensorType type);
bool isFloatingPoint(TensorType type);
bool isTF32(TensorType type);

/// The step between a box's elements along a dimension. Without an interleave
/// the tensor unit has none along dimension 0, whatever the map says.
inline uint32_t boxStep(const TensorMap &map, uint32_t dimension) {
  return dimension == 0 && map.interleave == 0 ? 1
                                               : map.elementStrides[dimension];
}

/// Elements of a box along a dimension: every boxStep-th one, from the first.
inline uint32_t boxExtent(const TensorMap &map, uint32_t dimension) {
  uint32_t step = boxStep(map, dimension);
  return (map.boxDim[dimension] + step - 1) / step;
}

/// The shared memory of a CTA, which no box exceeds.
constexpr uint64_t kMaxBoxBytes = 227 * 1024;

/// Bytes of a whole box in shared memory: what a load adds to its mbarrier,
/// wherever the box lies.
uint64_t boxBytes(const TensorMap &map);

/// Checks everything cuTensorMapEncodeTiled checks. Returns "" or a message
/// that names the parameter.
std::string validateTensorMap(const TensorMap &map);

/// Fields behind `rank` are written as 1 (strides as 0). Returns what
/// validateTensorMap says; writes `out` only if that is "".
std::string encodeTensorMap(const TensorMap &map, uint8_t out[kTensorMapBytes]);

/// The fields that tensormap.replace changes. Ordinals number dimensions, of
/// strides from the second dimension on.
enum class MapField : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  Type,
  Interleave,
  Swizzle,
  OobFill
};

/// Writes one field of an encoded map, as an H200 does: rank and types by their
/// numbers in the ISA, strides in bytes. What the driver derives from several
/// fields stays as it was. Returns "" or why there is no such field or value.
std::string replaceField(uint8_t bytes[kTensorMapBytes], MapField field,
                         uint32_t ordinal, uint64_t value);

/// Returns "" or the reason why the bytes are not a tensor map. Fields that the
/// tensor unit ignores are not checked: the box's bytes and the swizzle's
/// period, which the driver writes, and dimensions beyond the rank.
std::string decodeTensorMap(const uint8_t bytes[kTensorMapBytes],
                            TensorMap &map);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_TENSOR_MAP_H
