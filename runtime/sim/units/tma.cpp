// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/tma.h"
#include "units/float_format.h"

#include <algorithm>

using namespace attn::sim;

namespace {

constexpr uint32_t kSharedAlignment = 128;

/// Bytes that the copy unit handles as one.
constexpr uint32_t kPiece = 16;

/// Rows of .tile::gather4 and .tile::scatter4.
constexpr uint32_t kGatheredRows = 4;

/// A box row is at most 256 elements of 8 bytes.
constexpr uint32_t kMaxRowBytes = 2048;

/// Calls `visit(image offset, box offset, bytes)` for pieces of a run that stay
/// together in the image.
template <typename Visit>
void forEachPiece(const TensorMap &map, uint32_t sharedAddress,
                  const BoxRun &run, Visit visit) {
  if (map.swizzle == Swizzle::None) {
    visit(run.boxOffset, run.boxOffset, run.bytes);
    return;
  }
  uint32_t granule = swizzleGranule(map.swizzle);
  uint32_t end = run.boxOffset + run.bytes;
  for (uint32_t at = run.boxOffset; at < end;) {
    uint32_t next = std::min(end, (at / granule + 1) * granule);
    visit(imageOffset(map, sharedAddress, at), at, next - at);
    at = next;
  }
}

void roundToTF32(uint8_t *row, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += 4) {
    float value;
    std::memcpy(&value, row + at, 4);
    uint32_t rounded = toTF32(value, Rounding::RN);
    std::memcpy(row + at, &rounded, 4);
  }
}

void fillRow(const TensorMap &map, uint8_t *row, uint32_t bytes) {
  uint64_t fill = oobFillBits(map);
  uint32_t size = elementBytes(map.type);
  for (uint32_t at = 0; at < bytes; at += size) {
    std::memcpy(row + at, &fill, size);
  }
}

TmaResult faultAt(TmaResult result, const BoxRun &run) {
  result.status = TmaStatus::GlobalFault;
  result.address = run.address;
  result.bytes = run.bytes;
  return result;
}

/// Walks the runs inside the tensor with their bytes from the image.
template <typename Send>
TmaResult sendBox(const TensorMap &map, const int32_t *coordinates,
                  BoxMode mode, uint32_t sharedAddress, const uint8_t *image,
                  Send send) {
  TmaResult result;
  result.status = checkTma(map, sharedAddress);
  if (result.status != TmaStatus::Ok) {
    return result;
  }
  result.boxBytes = uint32_t(boxBytes(map));
  uint8_t row[kMaxRowBytes];
  for (const BoxRun &run : boxRuns(map, coordinates, RowEnd::Whole16, mode)) {
    if (!run.inside) {
      continue;
    }
    forEachPiece(map, sharedAddress, run,
                 [&](uint32_t from, uint32_t at, uint32_t bytes) {
                   std::memcpy(row + (at - run.boxOffset), image + from, bytes);
                 });
    if (!send(run, row)) {
      return faultAt(result, run);
    }
    result.globalBytes += run.bytes;
  }
  return result;
}

/// Appends the runs of one box row: outside, inside, outside.
void appendRow(const TensorMap &map, int64_t first, bool inside,
               uint64_t address, uint32_t boxOffset, int64_t dim,
               std::vector<BoxRun> &runs) {
  uint32_t size = elementBytes(map.type);
  auto box = int64_t(map.boxDim[0]);
  int64_t begin = inside ? std::clamp<int64_t>(-first, 0, box) : box;
  int64_t end = inside ? std::clamp<int64_t>(dim - first, begin, box) : box;
  auto append = [&](int64_t from, int64_t to, bool within) {
    if (from < to) {
      uint64_t at = within ? address + uint64_t(first + from) * size : 0;
      runs.push_back({at, boxOffset + uint32_t(from) * size,
                      uint32_t(to - from) * size, within});
    }
  };
  append(0, begin, false);
  append(begin, end, true);
  append(end, box, false);
}

/// Elements of a row of the tensor up to its end.
int64_t rowExtent(const TensorMap &map, RowEnd end) {
  auto extent = int64_t(map.globalDim[0]);
  int64_t whole = kPiece / elementBytes(map.type);
  return end == RowEnd::Exact ? extent : (extent + whole - 1) / whole * whole;
}

} // namespace

const char *attn::sim::describe(TmaStatus status) {
  switch (status) {
  case TmaStatus::Ok:
    return "ok";
  case TmaStatus::MisalignedShared:
    return "shared address is not a multiple of 128";
  case TmaStatus::UnsupportedInnerBox:
    return "the box's inner extent is not the swizzle's span";
  case TmaStatus::UnsupportedMap:
    return "tensor maps with an interleave are not simulated";
  case TmaStatus::BoxTooLarge:
    return "the box has more bytes than shared memory";
  case TmaStatus::GlobalFault:
    return "global memory not accessible";
  case TmaStatus::BadReduction:
    return "no such reduction for the tensor map's type";
  }
  return "";
}

uint32_t attn::sim::countCoordinates(const TensorMap &map, BoxMode mode) {
  return mode == BoxMode::FourRows ? 1 + kGatheredRows : map.rank;
}

std::string attn::sim::takeFourRows(TensorMap &map) {
  if (map.rank != 2 || map.boxDim[1] != 1) {
    return "expected a tensor map of rank 2 with a box of one row, got rank " +
           std::to_string(map.rank) + " and " + std::to_string(map.boxDim[1]) +
           " rows";
  }
  map.boxDim[1] = kGatheredRows;
  map.elementStrides[1] = 1;
  return "";
}

std::vector<BoxRun> attn::sim::boxRuns(const TensorMap &map,
                                       const int32_t *coordinates,
                                       RowEnd rowEnd, BoxMode mode) {
  std::vector<BoxRun> runs;
  int64_t extent = rowExtent(map, rowEnd);
  uint32_t rowBytes = map.boxDim[0] * elementBytes(map.type);
  auto rows = uint32_t(boxBytes(map) / rowBytes);
  runs.reserve(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    uint32_t rest = row;
    bool inside = true;
    uint64_t address = map.globalAddress;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t index = rest % boxExtent(map, d);
      int64_t at = mode == BoxMode::FourRows
                       ? coordinates[1 + index]
                       : coordinates[d] + index * boxStep(map, d);
      rest /= boxExtent(map, d);
      inside = inside && at >= 0 && uint64_t(at) < map.globalDim[d];
      address += uint64_t(at) * map.globalStrides[d - 1];
    }
    appendRow(map, coordinates[0], inside, address, row * rowBytes, extent,
              runs);
  }
  return runs;
}

TmaStatus attn::sim::checkTma(const TensorMap &map, uint32_t sharedAddress) {
  if (sharedAddress % kSharedAlignment != 0) {
    return TmaStatus::MisalignedShared;
  }
  if (map.interleave != 0) {
    return TmaStatus::UnsupportedMap;
  }
  if (boxBytes(map) > kMaxBoxBytes) {
    return TmaStatus::BoxTooLarge;
  }
  uint32_t span = swizzleSpan(map.swizzle);
  if (span != 0 && map.boxDim[0] * elementBytes(map.type) != span) {
    return TmaStatus::UnsupportedInnerBox;
  }
  return TmaStatus::Ok;
}

std::string attn::sim::checkCoordinates(const TensorMap &map,
                                        const int32_t *coordinates, bool stores,
                                        BoxMode mode) {
  int64_t start = int64_t(coordinates[0]) * elementBytes(map.type);
  if (start % kPiece != 0) {
    return "coordinate 0 is " + std::to_string(coordinates[0]) + ", byte " +
           std::to_string(start) + " of a row: expected a multiple of 16 bytes";
  }
  for (uint32_t i = 0; stores && i < countCoordinates(map, mode); ++i) {
    if (coordinates[i] < 0) {
      return "coordinate " + std::to_string(i) + " of a store is " +
             std::to_string(coordinates[i]) + ": expected 0 or more";
    }
  }
  return "";
}

uint32_t attn::sim::imageOffset(const TensorMap &map, uint32_t sharedAddress,
                                uint32_t boxOffset) {
  return swizzleAddress(sharedAddress + boxOffset, map.swizzle) - sharedAddress;
}

uint64_t attn::sim::oobFillBits(const TensorMap &map) {
  if (map.oobFill == OobFill::Zeros) {
    return 0;
  }
  return 0x7FF7'7FF7'7FF7'7FF7;
}

TmaResult attn::sim::gatherBox(const TensorMap &map, const int32_t *coordinates,
                               uint32_t sharedAddress, GlobalPort &global,
                               uint8_t *image, BoxMode mode) {
  TmaResult result;
  result.status = checkTma(map, sharedAddress);
  if (result.status != TmaStatus::Ok) {
    return result;
  }
  result.boxBytes = uint32_t(boxBytes(map));
  uint8_t row[kMaxRowBytes];
  for (const BoxRun &run : boxRuns(map, coordinates, RowEnd::Exact, mode)) {
    if (!run.inside) {
      fillRow(map, row, run.bytes);
    } else if (!global.read(run.address, row, run.bytes)) {
      return faultAt(result, run);
    } else {
      result.globalBytes += run.bytes;
    }
    if (run.inside && isTF32(map.type)) {
      roundToTF32(row, run.bytes);
    }
    forEachPiece(map, sharedAddress, run,
                 [&](uint32_t to, uint32_t at, uint32_t bytes) {
                   std::memcpy(image + to, row + (at - run.boxOffset), bytes);
                 });
  }
  return result;
}

TmaResult attn::sim::scatterBox(const TensorMap &map,
                                const int32_t *coordinates,
                                uint32_t sharedAddress, const uint8_t *image,
                                GlobalPort &global, BoxMode mode) {
  return sendBox(map, coordinates, mode, sharedAddress, image,
                 [&](const BoxRun &run, const uint8_t *row) {
                   return global.write(run.address, row, run.bytes);
                 });
}

TmaResult attn::sim::reduceBox(const TensorMap &map, const int32_t *coordinates,
                               uint32_t sharedAddress, const uint8_t *image,
                               ReduceOp op, GlobalPort &global) {
  ReduceType type;
  if (!reduceTypeOf(map.type, type) || !isReduceLegal(op, type)) {
    TmaResult result;
    result.status = TmaStatus::BadReduction;
    return result;
  }
  return sendBox(map, coordinates, BoxMode::Tile, sharedAddress, image,
                 [&](const BoxRun &run, const uint8_t *row) {
                   return global.reduce(run.address, row, run.bytes, op, type,
                                        reduceModeOf(map.type));
                 });
}

const char *attn::sim::checkBulkCopy(uint64_t to, uint64_t from,
                                     uint64_t bytes) {
  if (bytes == 0 || bytes % 16 != 0) {
    return "the size of a bulk copy is no positive multiple of 16";
  }
  if (to % 16 != 0) {
    return "the destination of a bulk copy is not 16-byte aligned";
  }
  if (from % 16 != 0) {
    return "the source of a bulk copy is not 16-byte aligned";
  }
  return nullptr;
}
