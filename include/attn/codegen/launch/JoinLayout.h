// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory in which the parts of cut work items hand over their values, in
// the workspace after the counter of work items and the stamps.
//
//   counts   for each cut item and each warp: how many parts have handed over
//   values   for part p of cut item i, those of all threads: the first four
//            of every thread, then the next four, ...
//
// Only rows with queries are handed over, where their number is known: by the
// warps that have such rows, and of these the elements in such rows.
//
// Counts are zero before and after a launch.
#ifndef ATTN_CODEGEN_LAUNCH_JOINLAYOUT_H
#define ATTN_CODEGEN_LAUNCH_JOINLAYOUT_H

#include "attn/codegen/launch/LaunchShape.h"
#include "attn/dialect/Tile.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

struct JoinLayout {
  static constexpr int64_t alignment = 256;
  static constexpr int64_t countBytes = 4;
  static constexpr int64_t vectorElements = 4, vectorBytes = 16;
  /// The last wave has fewer items than there are CTAs.
  static constexpr int64_t mostItems = 255;
  /// Of a CTA.
  static constexpr int64_t mostWarps = 32;
  /// The end of the counts. It is the same for all kernels, since they may
  /// share a workspace: none writes values where another has counts.
  static constexpr int64_t countsEnd =
      llvm::alignTo(alignment + mostItems * mostWarps * countBytes, alignment);

  /// Whether the kernel joins parts.
  static bool isIn(ws::KernelOp kernel);
  /// Returns the layout of a kernel that does. Fails if its chip has no layout
  /// for the values.
  static mlir::FailureOr<JoinLayout> of(ws::KernelOp kernel);

  int64_t stride() const { return warps * warpThreads * vectorBytes; }
  int64_t partBytes() const {
    return llvm::divideCeil(kept.size(), vectorElements) * stride();
  }

  /// Returns how many parts are loaded together: as many as fit into so many
  /// registers of a thread.
  int64_t partsAtOnce(int64_t registers) const;

  int64_t warps = 0;              // that have rows with queries
  bool isWhole = true;            // all warps of the role have such rows
  llvm::SmallVector<size_t> kept; // numbers of a thread's elements
  int64_t values = 0;             // offset of the first byte
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_JOINLAYOUT_H
