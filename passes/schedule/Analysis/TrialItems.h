// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work items of one CTA that a schedule is judged with.
#ifndef ATTN_PASSES_LIB_ANALYSIS_TRIALITEMS_H
#define ATTN_PASSES_LIB_ANALYSIS_TRIALITEMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace attn::sched {

/// A work item: its iterations, and how many of them the mask lets a sub-tile
/// skip, as far as the width of a block leaves a choice.
struct TrialItem {
  enum Skip { None, Fewest, Most };
  int trips = 0;
  Skip skip = None;
};

using TrialItems = llvm::SmallVector<TrialItem, 3>;

/// Every number of iterations up to 3 alone, every pair of them in a row, and
/// longer mixtures; if sub-tiles skip, some of them once more with skipped
/// blocks. `exhaustive`: all lists of up to three such items.
std::vector<TrialItems> itemsToTry(bool skips, bool exhaustive);

/// Returns how many iterations of an item a sub-tile skips that `later` others
/// follow. A sub-tile has `rows` rows, a block `columns` keys.
int countSkipped(const TrialItem &item, int later, int rows, int columns);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_TRIALITEMS_H
