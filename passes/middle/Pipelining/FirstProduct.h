// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators before the first product of a streaming loop.

#ifndef ATTN_PASSES_PIPELINING_FIRSTPRODUCT_H
#define ATTN_PASSES_PIPELINING_FIRSTPRODUCT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// `loop` is an expanded streaming loop. Products with zeros as accumulator
/// lose it. An accumulator that enters the steady loops as zeros, and that
/// products alone touch there, enters as poison instead: the first product is
/// `fresh`, and nobody writes zeros for each work item.
void startFresh(mlir::scf::IfOp loop);

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_FIRSTPRODUCT_H
