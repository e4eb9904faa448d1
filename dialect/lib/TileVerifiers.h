// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the verifiers of several tile ops share.
#ifndef ATTN_DIALECT_TILEVERIFIERS_H
#define ATTN_DIALECT_TILEVERIFIERS_H

#include "mlir/IR/Operation.h"

namespace attn::tile {

/// Checks that an op runs once per work item: no loop contains it except the
/// one over work items.
llvm::LogicalResult verifyOnceAnItem(mlir::Operation *op);

} // namespace attn::tile

#endif // ATTN_DIALECT_TILEVERIFIERS_H
