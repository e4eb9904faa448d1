// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which launches are left for each of several conditions that are tried in
// order.
#ifndef ATTN_PASSES_SCHEDULE_SIZECOVER_H
#define ATTN_PASSES_SCHEDULE_SIZECOVER_H

#include "attn/dialect/Attn.h"
#include <array>

namespace attn {

/// The sizes that are fixed by types.
struct StaticSizes {
  std::optional<int64_t> batch, heads, seqlenQ, seqlenK, keyHeads;

  /// Returns those of an attention, from any of its tensors.
  static StaticSizes of(AttentionOp op);
};

/// The launches that no condition covers yet. Sizes are treated as independent:
/// the result may include impossible launches, but misses none.
class SizeCover {
public:
  explicit SizeCover(const StaticSizes &sizes = {});

  /// Removes the launches for which `condition` (null: always) holds. Returns
  /// false if there were none.
  bool take(ConditionAttr condition);
  bool isEmpty() const { return left.empty(); }

private:
  struct Range {
    int64_t least = 0, most = std::numeric_limits<int64_t>::max();
  };
  /// A range for each LaunchSize.
  using Box = std::array<Range, getMaxEnumValForLaunchSize() + 1>;

  static std::optional<Box> intersect(Box box, ConditionAttr condition);
  /// Adds the part of `box` outside of `hole` to `left`; `hole` is within
  /// `box`.
  void addOutside(Box box, const Box &hole);

  llvm::SmallVector<Box> left; // disjoint
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_SIZECOVER_H
