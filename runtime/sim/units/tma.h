// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk.tensor in .tile mode, 1D to 5D, and in the modes .tile::gather4
// and .tile::scatter4 (PTX ISA, "Tensors"). A box is
// handled as an image: its bytes as they lie in shared memory from the box's
// address on, swizzle applied. So a load is two steps that a scheduler may do
// at different times (gatherBox, then copy the image to each destination CTA),
// and so is a store (copy the image from shared memory, then scatterBox).

#ifndef ATTN_SIM_UNITS_TMA_H
#define ATTN_SIM_UNITS_TMA_H

#include "units/reduce_op.h"

#include <vector>

namespace attn::sim {

/// Global memory as TMA sees it. Each call covers one contiguous run. A false
/// return means the run is not accessible, and ends the operation.
class GlobalPort {
public:
  virtual ~GlobalPort() = default;
  virtual bool read(uint64_t address, void *to, uint32_t bytes) = 0;
  virtual bool write(uint64_t address, const void *from, uint32_t bytes) = 0;
  /// memory[i] = memory[i] op from[i], each element atomically.
  virtual bool reduce(uint64_t address, const void *from, uint32_t bytes,
                      ReduceOp op, ReduceType type, ReduceMode mode) = 0;
};

/// A contiguous piece of a box: `bytes` at global `address`, which is byte
/// `boxOffset` of the unswizzled box. Pieces outside the tensor are not
/// `inside` and have no address.
struct BoxRun {
  uint64_t address;
  uint32_t boxOffset;
  uint32_t bytes;
  bool inside;
};

/// Where the rows of a tensor end for a copy. Loads keep to the tensor's
/// elements. A store or reduction on an H200 writes the 16 bytes at a row's end
/// as a whole: where the row is no multiple of 16 bytes, the bytes behind it
/// too.
enum class RowEnd : uint8_t { Exact, Whole16 };

/// How a box lies in its tensor: as a whole, or as four rows of a 2D tensor,
/// each with a coordinate of its own (.tile::gather4, .tile::scatter4).
enum class BoxMode : uint8_t { Tile, FourRows };

/// The number of coordinates: of FourRows one column and four rows.
uint32_t countCoordinates(const TensorMap &map, BoxMode mode);

/// Makes the map of a copy of four rows from one whose box is a single row.
/// Returns "" or the reason why there is none.
std::string takeFourRows(TensorMap &map);

/// The runs of a box at `coordinates` (dimension 0 first, may be negative), in
/// box order, covering the box exactly once.
std::vector<BoxRun> boxRuns(const TensorMap &map, const int32_t *coordinates,
                            RowEnd rowEnd = RowEnd::Exact,
                            BoxMode mode = BoxMode::Tile);

enum class TmaStatus : uint8_t {
  Ok,
  /// The shared address is not a multiple of 128.
  MisalignedShared,
  /// A swizzled box whose inner extent is not the swizzle's span. (On an H200
  /// its rows lie a span apart, and what is between them is left alone.)
  UnsupportedInnerBox,
  /// Interleaved layouts are not simulated.
  UnsupportedMap,
  /// The box has more bytes than shared memory.
  BoxTooLarge,
  /// The memory port refused a run.
  GlobalFault,
  /// The operation does not exist for the map's type.
  BadReduction,
};

/// The result of an operation. `boxBytes` is what a load announces to its
/// mbarrier. On GlobalFault, `address` and `bytes` are the refused run's.
struct TmaResult {
  TmaStatus status = TmaStatus::Ok;
  uint32_t boxBytes = 0;
  uint64_t globalBytes = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;
};
const char *describe(TmaStatus status);

/// Whether the operation can run at all; no memory is touched.
TmaStatus checkTma(const TensorMap &map, uint32_t sharedAddress);

/// Returns the reason why an H200 refuses a box at `coordinates` as an illegal
/// instruction, or "": a row of a box must start at a multiple of 16 bytes, and
/// no coordinate of a store or reduction may be negative.
std::string checkCoordinates(const TensorMap &map, const int32_t *coordinates,
                             bool stores, BoxMode mode = BoxMode::Tile);

/// Where byte `boxOffset` of the box lies in its image. The image covers
/// [sharedAddress, sharedAddress + boxBytes(map)).
uint32_t imageOffset(const TensorMap &map, uint32_t sharedAddress,
                     uint32_t boxOffset);

/// Load: fills `image` (boxBytes(map) bytes) with the box, out-of-bounds
/// elements by the map's fill. As on an H200, elements of F32Ftz keep their
/// bits, and those of TF32 and TF32Ftz are rounded to nearest as by
/// cvt.rn.tf32.f32. Stores round nothing. `sharedAddress` is the destination's
/// CTA-relative address, which decides the swizzle.
TmaResult gatherBox(const TensorMap &map, const int32_t *coordinates,
                    uint32_t sharedAddress, GlobalPort &global, uint8_t *image,
                    BoxMode mode = BoxMode::Tile);

/// Store: writes what of `image` lies inside the tensor, by RowEnd::Whole16.
TmaResult scatterBox(const TensorMap &map, const int32_t *coordinates,
                     uint32_t sharedAddress, const uint8_t *image,
                     GlobalPort &global, BoxMode mode = BoxMode::Tile);

/// cp.reduce.async.bulk.tensor: like scatterBox with an operation.
TmaResult reduceBox(const TensorMap &map, const int32_t *coordinates,
                    uint32_t sharedAddress, const uint8_t *image, ReduceOp op,
                    GlobalPort &global);

/// The element with which out-of-bounds elements are filled, as low bits. NaN
/// is 0x7FF7 in each 16 bits, whatever the type, as on an H200.
uint64_t oobFillBits(const TensorMap &map);

/// Returns the reason why a non-tensor bulk copy (cp.async.bulk) is malformed,
/// or null: sizes are positive multiples of 16, both addresses 16-byte aligned.
const char *checkBulkCopy(uint64_t to, uint64_t from, uint64_t bytes);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_TMA_H
