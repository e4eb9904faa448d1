// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rule two accesses to the same tensor memory break.

#ifndef ATTN_SIM_HAZARDS_TMEM_ORDER_H
#define ATTN_SIM_HAZARDS_TMEM_ORDER_H

#include "hazards/knowledge.h"
#include "hazards/rules.h"
#include "hazards/tmem_shadow.h"

namespace attn::sim {

/// Who makes an access, and what is known there.
struct TmemAccessor {
  TmemAccess access;
  /// Known in some order, and behind fences.
  const Clock &ordered;
  const Clock &seen;
};

/// Finds what is wrong between an access of before and the one that `by` makes
/// now, if anything. `writes`: this one writes. `wrote`: that one did.
bool findTmemConflict(const TmemAccessor &by, bool writes,
                      const TmemAccess &other, bool wrote, Rule &rule);

/// What would have ordered them.
const char *describeMissingOrder(Rule rule);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TMEM_ORDER_H
