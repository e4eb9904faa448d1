// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a protocol once and judges its order.
#ifndef ATTN_PASSES_LIB_ANALYSIS_EXECUTION_H
#define ATTN_PASSES_LIB_ANALYSIS_EXECUTION_H

#include "Protocol.h"

namespace attn::sched {

/// Rules V8, V9 and V16 to V19. What happens before what is kept as sets of
/// events, so one run speaks for every interleaving in which each wait sees the
/// same phase of its barrier; V16 and V17 say that there are no others.
LogicalResult execute(const Protocol &protocol, EmitError emitError);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_EXECUTION_H
