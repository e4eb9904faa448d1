// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verifiers of several tile ops ask.
#ifndef ATTN_DIALECT_TILEVERIFIERS_H
#define ATTN_DIALECT_TILEVERIFIERS_H

#include "mlir/IR/Operation.h"

namespace attn::tile {

/// Of ops that run once a work item: that no loop but the one over work items
/// is round them.
llvm::LogicalResult verifyOnceAnItem(mlir::Operation *op);

} // namespace attn::tile

#endif // ATTN_DIALECT_TILEVERIFIERS_H
