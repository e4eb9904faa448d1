// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the parts of cut work items hand over what they have, in the workspace
// behind the counter of work items and the stamps.
//
//   counts   of a cut item, for each warp: how many parts have handed over
//   values   of part p of cut item i, those of all threads: the first four
//            of every thread, then the next four, ...
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
  /// A wave has at most as many CTAs less one.
  static constexpr int64_t mostItems = 255;
  /// Of a CTA.
  static constexpr int64_t mostWarps = 32;
  /// Of the counts. All kernels have it, for they may share a workspace: none
  /// writes values where another has counts.
  static constexpr int64_t countsEnd =
      llvm::alignTo(alignment + mostItems * mostWarps * countBytes, alignment);

  /// That of a kernel; none if it joins no parts.
  static std::optional<JoinLayout> of(ws::KernelOp kernel);

  static bool isIn(ws::KernelOp kernel);

  int64_t stride() const { return warps * warpThreads * vectorBytes; }
  int64_t partBytes() const {
    return llvm::divideCeil(elements, vectorElements) * stride();
  }

  int64_t warps = 0;    // of the role that joins
  int64_t elements = 0; // of one thread
  int64_t values = 0;   // their first byte
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_JOINLAYOUT_H
