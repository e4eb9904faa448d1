// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a chip's folder to the passes from `ws` to instructions:
// layouts (attn/dialect/Chip.h); a pattern for each op whose instructions
// differ between chips, and a check of the cases that it supports; and queries
// of passes that are common to all chips. Sizes come from the machine
// (MachineAttr).
#ifndef ATTN_CODEGEN_TARGET_H
#define ATTN_CODEGEN_TARGET_H

#include "Arithmetic.h"
#include "ParamValues.h"
#include "attn/codegen/launch/CopyBox.h"
#include "attn/dialect/Chip.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::codegen {

class RoleSync;

/// Three groups of members: accumulators, operands, and completion.
class Target : public Chip {
public:
  // Accumulators.

  /// Checks that the warps of a role suit its work: if it works on tiles, they
  /// hold an accumulator together.
  virtual mlir::LogicalResult checkRole(ws::RoleOp role, Error error) const = 0;

  /// Gives each thread of this group of warps `registers` registers from here
  /// on, instead of the `launched` ones.
  virtual void setRegisters(const Arithmetic &emit, int64_t registers,
                            int64_t launched) const = 0;

  /// Returns that number of registers if `op` sets it.
  virtual std::optional<int64_t> registersSetBy(mlir::Operation *op) const = 0;

  /// Returns the registers of a thread that hold the values of parts of an item
  /// which are loaded together.
  virtual int64_t registersForParts() const = 0;

  /// Refuses uses of `tile` ops that the patterns below do not support.
  virtual mlir::LogicalResult checkTileOp(mlir::Operation *op,
                                          Error error) const = 0;

  /// Marks ops of a role by what is known only while there are tiles.
  virtual void markTileOps(ws::RoleOp role) const = 0;

  /// Adds patterns for `tile` ops, whose results are then the values of one
  /// thread; the chip may compute shared values at the beginning of the role.
  /// Ops without a pattern stay, on values of one thread.
  virtual void populateTilePatterns(mlir::RewritePatternSet &patterns,
                                    const mlir::TypeConverter &types,
                                    ws::KernelOp kernel,
                                    ws::RoleOp role) const = 0;

  // Operands.

  /// Chooses the layouts of slots that do not follow from the tile alone, and
  /// records them as the encodings of their types. Only the chip reads these.
  virtual void layOutSlots(ws::KernelOp kernel) const = 0;

  /// Checks that a tile can be stored in shared memory.
  virtual mlir::LogicalResult checkSmemTile(mlir::RankedTensorType tile,
                                            Error error) const = 0;

  /// Returns how a tile is copied from or to a tensor with this many columns,
  /// if `ctas` CTAs copy a share of it each.
  virtual CopyBox copyBox(mlir::RankedTensorType tile, int64_t tensorColumns,
                          int64_t ctas) const = 0;

  /// Refuses uses of ops that move or multiply tiles that the patterns below do
  /// not support.
  virtual mlir::LogicalResult checkInstruction(mlir::Operation *op,
                                               Error error) const = 0;

  /// Adds patterns for ops of `ws` and `tile` that copy, move, multiply and
  /// wait; slots are offsets in shared memory, and tokens disappear.
  virtual void populateInstructionPatterns(mlir::RewritePatternSet &patterns,
                                           const mlir::TypeConverter &types,
                                           const ParamValues &params) const = 0;

  // Completion.

  /// Whether `op`, an instruction, waits for products.
  virtual bool waitsForProducts(mlir::Operation *op) const = 0;

  /// Adds patterns for ops of `ws` in a role by which threads pass on the
  /// operands or results of products. Ops that signal in the same way on all
  /// chips already have patterns (SyncPatterns.h), of benefit 1. Whether the
  /// warps of a replica may meet (`roleBarrier`) follows from the machine
  /// (ResourcePlan.h).
  virtual void populateCompletionPatterns(mlir::RewritePatternSet &patterns,
                                          RoleSync &sync) const = 0;
};

/// Returns the target of the kernel's machine; null, with an error that begins
/// with `pass`, if there is none.
const Target *findTarget(ws::KernelOp kernel, llvm::StringRef pass);

/// Returns the target of a module of instructions in the same way.
const Target *findTarget(mlir::gpu::GPUModuleOp module, llvm::StringRef pass);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_H
