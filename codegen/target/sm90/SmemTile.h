// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a tile in shared memory: panels of columns, where each row of a
// panel is one swizzle span wide. The copy engine writes this layout, and
// matrix instructions and stmatrix use it.
#ifndef ATTN_CODEGEN_SM90_SMEMTILE_H
#define ATTN_CODEGEN_SM90_SMEMTILE_H

#include "attn/support/mlir_pch.h"

namespace attn::codegen::sm90 {

/// A rows x columns tile of 16-bit elements in shared memory. If its type has a
/// number as its encoding, panels have to end at multiples of so many columns.
struct SmemTile {
  int64_t rows, columns, ends;

  explicit SmemTile(mlir::RankedTensorType type)
      : rows(type.getDimSize(0)), columns(type.getDimSize(1)), ends(columns) {
    if (auto stated =
            mlir::dyn_cast_if_present<mlir::IntegerAttr>(type.getEncoding())) {
      ends = stated.getInt();
    }
  }

  static constexpr int64_t elementBytes = 2;
  static constexpr int64_t chunkBytes = 16; // the unit of swizzling

  /// Returns the widest span of 128, 64 or 32 bytes that divides a row, or the
  /// columns after which a panel has to end.
  int64_t spanBytes() const {
    for (int64_t bytes : {128, 64}) {
      if (ends * elementBytes % bytes == 0) {
        return bytes;
      }
    }
    return 32;
  }
  int64_t panelColumns() const { return spanBytes() / elementBytes; }
  int64_t panels() const { return columns / panelColumns(); }
  /// Whether the columns of a tensor in memory end with a panel. Then one copy
  /// moves all panels; otherwise each panel is a copy, so that the last one
  /// ends where the tensor does.
  bool isOneCopy(int64_t tensorColumns) const {
    return tensorColumns % panelColumns() == 0;
  }
  int64_t panelBytes() const { return rows * spanBytes(); }
  /// The part of a tile in one copy, if `ctas` CTAs copy a share each: whole
  /// panels of all rows if their number is divisible, otherwise rows of one
  /// panel.
  struct Copy {
    int64_t rows, panels;
  };
  bool isSharedByPanels(int64_t ctas) const { return panels() % ctas == 0; }
  Copy copyOf(int64_t tensorColumns, int64_t ctas) const {
    if (!isSharedByPanels(ctas)) {
      return {rows / ctas, 1};
    }
    return {rows, isOneCopy(tensorColumns) ? panels() / ctas : 1};
  }
  int64_t chunksPerSpan() const { return spanBytes() / chunkBytes; }
  /// The chunk number is XORed with (row >> shift) % chunksPerSpan.
  int64_t swizzleRowShift() const { return llvm::Log2_64(128 / spanBytes()); }

  /// High word of the wgmma descriptor: stride between groups of eight rows, in
  /// units of 16 bytes, and the swizzle mode (1: 128, 2: 64, 3: 32 bytes).
  uint32_t descriptorHigh() const {
    uint32_t mode = spanBytes() == 128 ? 1 : spanBytes() == 64 ? 2 : 3;
    return mode << 30 | static_cast<uint32_t>(8 * spanBytes() / 16);
  }
};

/// The order of f32 tiles that are added to memory (`grouped` in tile.load). A
/// group is the 16 rows of a warp and 8 columns, in a `transposed` tensor 16
/// columns and 8 rows. A lane has four consecutive elements of it, two in each
/// of two rows, as in its registers. The groups of the four warps follow each
/// other.
struct GroupOrder {
  static constexpr int64_t rows = 16, columns = 8, laneBytes = 16,
                           bytes = 32 * laneBytes, warps = 4,
                           warpgroupBytes = warps * bytes;
};

} // namespace attn::codegen::sm90

#endif // ATTN_CODEGEN_SM90_SMEMTILE_H
