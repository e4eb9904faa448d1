// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a chip copies tiles between global and shared memory.
#ifndef ATTN_CODEGEN_LAUNCH_COPYBOX_H
#define ATTN_CODEGEN_LAUNCH_COPYBOX_H

#include "attn/support/mlir_pch.h"
#include <functional>

namespace attn::codegen {

/// The part of a tile in shared memory that one copy moves. The tile consists
/// of panels: `columns` columns of all rows. A tensor map has the dimensions
/// columns of a panel, positions, panels, heads, batches; without panels if
/// `endsWithPanel` is false, and with packed heads before positions. The chip's
/// copies pass their coordinates in this order.
struct CopyBox {
  int64_t rows, columns; // columns of a panel
  int64_t panels;        // rows of one copy
  /// The columns of the tensor end with a panel. Otherwise each panel is a
  /// copy, so that the last one ends where the tensor does.
  bool endsWithPanel;
  /// The number of bytes within which the copy engine permutes the chunks of a
  /// row.
  int64_t span;
};

/// Returns how a tile is copied from or to a tensor with this many columns, if
/// `ctas` CTAs copy a share of it each.
using CopyBoxOf = std::function<CopyBox(mlir::RankedTensorType tile,
                                        int64_t tensorColumns, int64_t ctas)>;

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_COPYBOX_H
