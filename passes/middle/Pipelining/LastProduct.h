// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a role computes while the last product of its streaming loop is in
// flight.

#ifndef ATTN_PASSES_PIPELINING_LASTPRODUCT_H
#define ATTN_PASSES_PIPELINING_LASTPRODUCT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// `loop` is an expanded streaming loop: its blocks, or else what stands for
/// none. What follows it and reads its results, but not those of its last
/// await, moves in front of that, and into the other branch.
void computeDuringLastProduct(mlir::scf::IfOp loop);

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_LASTPRODUCT_H
