// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said of CTAs none of whose warps can run.

#ifndef ATTN_SIM_CORE_DEADLOCK_H
#define ATTN_SIM_CORE_DEADLOCK_H

#include "core/cta.h"

namespace attn::sim {

/// The most particular rule that explains a wait of the CTA.
Rule findDeadlockRule(const Cta &cta);
/// A line for each group of lanes that waits.
std::string describeBlocked(const Cta &cta);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_DEADLOCK_H
