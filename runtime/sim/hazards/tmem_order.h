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
  /// What is known with any synchronization, and what with the fences that the
  /// ISA asks for.
  const Clock &ordered;
  const Clock &seen;
};

/// Returns whether the access that `by` makes now conflicts with `other`, an
/// earlier one, and sets the rule. `writes`: the new access writes. `wrote`:
/// the earlier one did.
bool findTmemConflict(const TmemAccessor &by, bool writes,
                      const TmemAccess &other, bool wrote, Rule &rule);

/// What would have ordered them.
const char *describeMissingOrder(Rule rule);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TMEM_ORDER_H
