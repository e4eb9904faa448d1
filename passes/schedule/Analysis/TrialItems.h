// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work items of one CTA with which a schedule is checked.
#ifndef ATTN_PASSES_LIB_ANALYSIS_TRIALITEMS_H
#define ATTN_PASSES_LIB_ANALYSIS_TRIALITEMS_H

#include "attn/dialect/Attn.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace attn::sched {

/// A work item: its iterations, and how many of them a sub-tile skips at its
/// beginning and at its end. Masks that differ by less than the width of a
/// block let it skip one more or less.
struct TrialItem {
  enum Skip { None, Fewest, Most };
  int trips = 0;
  Skip skip = None, skipAtEnd = None;
};

using TrialItems = llvm::SmallVector<TrialItem, 3>;

/// Returns every number of iterations up to 3, every pair of them, and longer
/// mixtures; if sub-tiles skip blocks, some of them again with skipped blocks.
/// `exhaustive`: all lists of up to three such items.
std::vector<TrialItems> itemsToTry(::attn::Skip skip, bool exhaustive);

/// Returns how many blocks a sub-tile skips on a side on which it has `others`
/// more sub-tiles. A sub-tile has `rows` rows, a block `columns` keys.
int countSkipped(TrialItem::Skip skip, int others, int rows, int columns);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_TRIALITEMS_H
