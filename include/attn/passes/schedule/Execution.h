// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs token programs once and checks their order.
#ifndef ATTN_PASSES_SCHEDULE_EXECUTION_H
#define ATTN_PASSES_SCHEDULE_EXECUTION_H

#include "TokenPrograms.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn {

/// Checks rules V8, V9 and V16 to V19. Happens-before is kept as sets of
/// events, so one run covers every interleaving in which each wait sees the
/// same phase of its barrier; V16 and V17 ensure that there are no others.
mlir::LogicalResult
execute(const TokenPrograms &programs,
        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_EXECUTION_H
