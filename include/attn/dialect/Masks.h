// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The built-in masks and their bounds, as Masks.td defines them.
#ifndef ATTN_DIALECT_MASKS_H
#define ATTN_DIALECT_MASKS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// A bound of a mask, an i32 given at launch.
struct MaskBound {
  uint32_t number;
  llvm::StringLiteral name;
  uint32_t least;
  /// The first or the last key that a query sees, as in Masks.td.
  llvm::StringLiteral first, last;
  /// The first or the last diagonal of the queries that see a key.
  llvm::StringLiteral firstDiagonal, lastDiagonal;

  MaskBounds kind() const { return MaskBounds(1U << number); }
};

struct BuiltInMask {
  uint32_t number;
  llvm::StringLiteral name;
  bool bottomRight; // counts from the last query and key
  bool causal;      // the last key is on the diagonal
  /// The names of bounds, separated by spaces: those that launches must
  /// provide, and those that they may provide.
  llvm::StringLiteral needed, taken;
  bool needsAny; // one of those that they may provide
  /// The word in schedule tables for entries that cover the mask, if any.
  llvm::StringLiteral served;
};

/// Returns all bounds, in the order of an op's operands.
llvm::SmallVector<MaskBound> maskBounds();
/// Returns the bounds of a set, in the same order.
llvm::SmallVector<MaskBound> maskBounds(MaskBounds kinds);
const BuiltInMask &builtInMask(MaskKind kind);

/// Returns the words of a schedule table for `masks`, by default for all that
/// an entry may serve.
std::vector<std::string>
tableMaskWords(TableMasks masks = ~TableMasks::Nothing);

/// Checks C17 of attn.attention.
mlir::LogicalResult
verifyBounds(MaskKind mask, MaskBounds bounds,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// A range as expressions of launch plans; null if the side is open.
struct OpenRange {
  mlir::Attribute first, last;
};

/// The keys that a query sees. Their names are those of bounds and sizes, and
/// kDiagonal.
constexpr llvm::StringLiteral kDiagonal = "diagonal";
OpenRange seenKeys(mlir::MLIRContext *context, MaskKind mask,
                   MaskBounds bounds);

/// The diagonals of the queries that see a key, with the name kKey in place of
/// kDiagonal. The first is open if the last of seenKeys() is, and the other way
/// around.
constexpr llvm::StringLiteral kKey = "key";
OpenRange seeingDiagonals(mlir::MLIRContext *context, MaskKind mask,
                          MaskBounds bounds);

} // namespace attn

#endif // ATTN_DIALECT_MASKS_H
