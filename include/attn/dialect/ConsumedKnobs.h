// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The record of the knobs by which passes have shaped a kernel. Later passes
// still read its config and schedule, so an edit of such a knob would describe
// another kernel than the one that is emitted. The verifier refuses the edit.
#ifndef ATTN_DIALECT_CONSUMEDKNOBS_H
#define ATTN_DIALECT_CONSUMEDKNOBS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// An attribute of `tile.kernel` and `ws.kernel`: a dictionary from the names
/// of consumed knobs to their values as text. `problem` stands for the whole
/// problem, and `structure` for a digest of the schedule's roles, places and
/// bodies.
constexpr llvm::StringLiteral kConsumedAttr = "attn.consumed";

/// Adds to the record what `pass` consumes of the config, schedule and problem
/// of `kernel`, as Knobs.td defines it.
void recordConsumed(mlir::Operation *kernel, llvm::StringRef pass);

/// Checks that the config, schedule and problem of `kernel` still have the
/// values in `record`.
mlir::LogicalResult verifyConsumed(mlir::Operation *kernel,
                                   mlir::Attribute record);

} // namespace attn

#endif // ATTN_DIALECT_CONSUMEDKNOBS_H
