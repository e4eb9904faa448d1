// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a chip's folder gives to the passes from `ws` to instructions: layouts
// (attn/dialect/Chip.h); a pattern for each op whose instructions are the
// chip's own, and before it a check of what has one; and what these passes ask
// where they work on all chips alike. Sizes are the machine's (MachineAttr).
#ifndef ATTN_CODEGEN_TARGET_H
#define ATTN_CODEGEN_TARGET_H

#include "Arithmetic.h"
#include "ParamValues.h"
#include "attn/codegen/launch/CopyBox.h"
#include "attn/dialect/Chip.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::codegen {

class RoleSync;

/// Three groups of questions: where an accumulator lives, how operands are
/// described, how completion is signalled.
class Target : public Chip {
public:
  // Accumulators.

  /// Checks that the warps of a role suit what it does: those of one that works
  /// on tiles hold an accumulator between them.
  virtual mlir::LogicalResult checkRole(ws::RoleOp role, Error error) const = 0;

  /// Gives each thread of the group of warps that runs from here on
  /// `registers`, where it was launched with `launched`.
  virtual void setRegisters(const Arithmetic &emit, int64_t registers,
                            int64_t launched) const = 0;

  /// Refuses uses of `tile` ops that the patterns below have no case for.
  virtual mlir::LogicalResult checkTileOp(mlir::Operation *op,
                                          Error error) const = 0;

  /// Adds patterns of `tile` ops, whose results are the values of one thread
  /// then; the chip may put values that they share at the beginning of the
  /// role. Ops without a pattern stay, on values of one thread.
  virtual void populateTilePatterns(mlir::RewritePatternSet &patterns,
                                    const mlir::TypeConverter &types,
                                    ws::KernelOp kernel,
                                    ws::RoleOp role) const = 0;

  // Operands.

  /// Checks that a tile can lie in shared memory.
  virtual mlir::LogicalResult checkSmemTile(mlir::RankedTensorType tile,
                                            Error error) const = 0;

  /// Says how a tile is copied from or to a tensor of so many columns, where
  /// `ctas` CTAs bring a share of it each.
  virtual CopyBox copyBox(mlir::RankedTensorType tile, int64_t tensorColumns,
                          int64_t ctas) const = 0;

  /// Refuses uses of ops that move tiles or multiply them that the patterns
  /// below have no case for.
  virtual mlir::LogicalResult checkInstruction(mlir::Operation *op,
                                               Error error) const = 0;

  /// Adds patterns of ops of `ws` and `tile` that copy, move, multiply and
  /// wait; slots are offsets in shared memory, and nothing stands for tokens.
  virtual void populateInstructionPatterns(mlir::RewritePatternSet &patterns,
                                           const mlir::TypeConverter &types,
                                           const ParamValues &params) const = 0;

  // Completion.

  /// Says whether the warps of a replica meet at a barrier of theirs before the
  /// put: none knows from its own waits that products have read what lay there.
  virtual bool meetsBefore(ws::PutOp put) const = 0;

  /// Adds patterns of ops of `ws` in a role by which threads hand on what
  /// products read or made. Those that signal alike on all chips have patterns
  /// already (SyncPatterns.h), of benefit 1.
  virtual void populateCompletionPatterns(mlir::RewritePatternSet &patterns,
                                          RoleSync &sync) const = 0;
};

/// The target of the kernel's machine; null, with an error that `pass` begins,
/// if there is none.
const Target *findTarget(ws::KernelOp kernel, llvm::StringRef pass);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_H
