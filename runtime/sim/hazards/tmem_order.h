// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rule two accesses to the same tensor memory break.

#ifndef ATTN_SIM_HAZARDS_TMEM_ORDER_H
#define ATTN_SIM_HAZARDS_TMEM_ORDER_H

#include "hazards/knowledge.h"
#include "hazards/rules.h"
#include "hazards/tmem_shadow.h"

namespace attn::sim {

/// The thread or operation that makes an access, and its knowledge.
struct TmemAccessor {
  TmemAccess access;
  /// The operations that are known to be ordered by any synchronization, and
  /// those that are by the fences that the ISA requires.
  const Clock &ordered;
  const Clock &seen;
};

/// Returns whether the access that `by` makes now conflicts with `other`, an
/// earlier one, and sets the rule. `writes`: the new access writes. `wrote`:
/// the earlier one did.
bool findTmemConflict(const TmemAccessor &by, bool writes,
                      const TmemAccess &other, bool wrote, Rule &rule);

/// Returns the synchronization that would have ordered them.
const char *describeMissingOrder(Rule rule);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TMEM_ORDER_H
