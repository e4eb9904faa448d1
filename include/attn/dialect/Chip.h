// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes above instructions ask about a chip. A chip's folder
// (codegen/target/<chip>) answers, so that those passes name none.
#ifndef ATTN_DIALECT_CHIP_H
#define ATTN_DIALECT_CHIP_H

#include "attn/dialect/Tile.h"

namespace attn {

class Chip {
public:
  using Error = llvm::function_ref<mlir::InFlightDiagnostic()>;

  virtual ~Chip() = default;

  /// The chip's name, as machine files have it, and as the assembler does.
  virtual llvm::StringRef getName() const = 0;

  /// The layout of a tile that a product leaves in registers, and of what is
  /// computed with it. `error` begins the diagnostic if there is none.
  virtual mlir::FailureOr<tile::LayoutAttr>
  accumulatorLayout(mlir::RankedTensorType tile, Error error) const = 0;

  /// The layout of a vector: that of such a tile without dimension `dim`.
  virtual mlir::FailureOr<tile::LayoutAttr>
  vectorLayout(mlir::RankedTensorType vector, int64_t dim,
               Error error) const = 0;

  /// The layout of a product's operand A in registers.
  virtual mlir::FailureOr<tile::LayoutAttr>
  operandLayout(mlir::RankedTensorType tile, Error error) const = 0;
};

/// The chips that a program has: an interface of the tile dialect, to which
/// each chip adds itself.
class ChipInterface : public mlir::DialectInterface::Base<ChipInterface> {
public:
  explicit ChipInterface(mlir::Dialect *dialect) : Base(dialect) {}

  void add(const Chip *chip) { chips.push_back(chip); }
  /// The chip of a name; null if there is none.
  const Chip *find(llvm::StringRef name) const;

private:
  llvm::SmallVector<const Chip *> chips;
};

/// The chip of a name; null if the program has none of it.
const Chip *findChip(mlir::MLIRContext *context, llvm::StringRef name);

} // namespace attn

#endif // ATTN_DIALECT_CHIP_H
