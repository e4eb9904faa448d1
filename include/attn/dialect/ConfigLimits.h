// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits of #attn.config and #attn.schedule, for their verifiers and for
// generators.
#ifndef ATTN_DIALECT_CONFIGLIMITS_H
#define ATTN_DIALECT_CONFIGLIMITS_H

#include "attn/dialect/Attn.h"

namespace attn {

// config C2: 2^64 times any length stays far below the largest float.
constexpr int64_t kMostRescaleThreshold = 64;
// config C3
constexpr int64_t kLeastExp2Degree = 3, kMostExp2Degree = 5;
// config C6
constexpr int64_t kMostSectionMib = 1024;
// config C9
constexpr int64_t kMostCluster = 2;
// config C10
constexpr int64_t kMostLastWaveParts = 16;

/// Whether heads may be worked through in sections (config C6).
constexpr bool mayHaveSections(WorkOrder order) {
  return order == WorkOrder::LongestFirst;
}
/// Whether an item may be computed again, which only a running maximum never
/// requires (config C7).
constexpr bool mayRunAgain(WorkKind work) { return work != WorkKind::Static; }
/// Whether the items of the last wave may be cut (config C10).
constexpr bool mayCutLastWave(WorkKind work, int64_t cluster) {
  return work == WorkKind::Dynamic && cluster == 1;
}
/// Whether a sub-tile may leave blocks to the others (schedule C5).
constexpr bool maySkipBlocks(int64_t subtiles) { return subtiles >= 2; }

} // namespace attn

#endif // ATTN_DIALECT_CONFIGLIMITS_H
