// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains deadlocks: CTAs in which no warp can run.

#ifndef ATTN_SIM_CORE_DEADLOCK_H
#define ATTN_SIM_CORE_DEADLOCK_H

#include "core/cta.h"

namespace attn::sim {

/// Returns the most specific rule that explains a wait of the CTA.
Rule findDeadlockRule(const Cta &cta);
/// A line for each group of lanes that waits.
std::string describeBlocked(const Cta &cta);

/// Whether a warp waits for columns of tensor memory.
bool waitsForTensorMemory(const Cta &cta);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_DEADLOCK_H
