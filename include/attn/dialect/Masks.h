// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The built-in masks and their bounds, as Masks.td defines them.
#ifndef ATTN_DIALECT_MASKS_H
#define ATTN_DIALECT_MASKS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// A number of a launch, i32, that a mask needs or may have.
struct MaskBound {
  uint32_t number;
  llvm::StringLiteral name;
  uint32_t least;
  /// The first or the last key that a query sees, as Masks.td says it.
  llvm::StringLiteral first, last;

  MaskBounds kind() const { return MaskBounds(1U << number); }
};

struct BuiltInMask {
  uint32_t number;
  llvm::StringLiteral name;
  bool bottomRight; // counts from the last query and key
  bool causal;      // the last key is on the diagonal
  /// Names of bounds, with spaces between: of those that launches have to give,
  /// and of those that they may.
  llvm::StringLiteral needed, taken;
  bool needsAny; // of those that they may
  /// The word of schedule tables for entries that serve the mask, if any.
  llvm::StringLiteral served;
};

/// All bounds, in the order of an op's operands.
llvm::SmallVector<MaskBound> maskBounds();
/// Those of a set, in the same order.
llvm::SmallVector<MaskBound> maskBounds(MaskBounds kinds);
const BuiltInMask &builtInMask(MaskKind kind);

/// Checks C17 of attn.attention.
mlir::LogicalResult
verifyBounds(MaskKind mask, MaskBounds bounds,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Which keys a query sees. An expression is an i64, a word or a list of an
/// operator of launch plans and its operands; null where the side is open. Its
/// words are names of bounds and those below.
struct SeenKeys {
  mlir::Attribute first, last;
};
constexpr llvm::StringLiteral kDiagonal = "diagonal";
SeenKeys seenKeys(mlir::MLIRContext *context, MaskKind mask, MaskBounds bounds);

} // namespace attn

#endif // ATTN_DIALECT_MASKS_H
