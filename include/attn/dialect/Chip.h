// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between a chip and the passes above instructions. The chip's
// folder (codegen/target/<chip>) implements it, so that those passes name no
// chip.
#ifndef ATTN_DIALECT_CHIP_H
#define ATTN_DIALECT_CHIP_H

#include "attn/dialect/Tile.h"

namespace attn {

class Chip {
public:
  using Error = llvm::function_ref<mlir::InFlightDiagnostic()>;

  virtual ~Chip() = default;

  /// The chip's name, as in machine files and for the assembler.
  virtual llvm::StringRef getName() const = 0;

  /// Returns the layout of a tile that is the result of a product in registers,
  /// and of tiles computed with it. `error` begins the diagnostic if there is
  /// none.
  virtual mlir::FailureOr<tile::LayoutAttr>
  accumulatorLayout(mlir::RankedTensorType tile, Error error) const = 0;

  /// Returns the layout of a vector: that of such a tile without dimension
  /// `dim`.
  virtual mlir::FailureOr<tile::LayoutAttr>
  vectorLayout(mlir::RankedTensorType vector, int64_t dim,
               Error error) const = 0;

  /// Returns the layout of a product's operand A in registers.
  virtual mlir::FailureOr<tile::LayoutAttr>
  operandLayout(mlir::RankedTensorType tile, Error error) const = 0;
};

/// The chips of a program: an interface of the tile dialect, to which each chip
/// adds itself.
class ChipInterface : public mlir::DialectInterface::Base<ChipInterface> {
public:
  explicit ChipInterface(mlir::Dialect *dialect) : Base(dialect) {}

  void add(const Chip *chip) { chips.push_back(chip); }
  /// Returns the chip of a name, or null.
  const Chip *find(llvm::StringRef name) const;

private:
  llvm::SmallVector<const Chip *> chips;
};

/// Returns the chip of a name; null if the program does not contain it.
const Chip *findChip(mlir::MLIRContext *context, llvm::StringRef name);

} // namespace attn

#endif // ATTN_DIALECT_CHIP_H
