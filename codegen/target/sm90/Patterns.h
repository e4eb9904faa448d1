// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hopper's patterns, by what they move or compute.
#ifndef ATTN_CODEGEN_SM90_PATTERNS_H
#define ATTN_CODEGEN_SM90_PATTERNS_H

#include "../common/InstructionPatterns.h"
#include "../common/TilePatterns.h"

namespace attn::codegen {
class RoleSync;
} // namespace attn::codegen

namespace attn::codegen::sm90 {

/// Reductions, broadcasts, coordinates, votes and packing.
void populateTilePatterns(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &types, ws::RoleOp role);
/// Loads of elements that several of a tile share, and additions to such.
void populateSharedElementPatterns(mlir::RewritePatternSet &patterns,
                                   const mlir::TypeConverter &types);
/// Exponentials; the FMA units compute a share of them.
void populateExp2Patterns(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &types,
                          ws::KernelOp kernel);
/// Bulk copies between global and shared memory.
void populateCopyPatterns(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &types,
                          const ParamValues &params);
/// Register tiles to shared memory.
void populatePutPatterns(mlir::RewritePatternSet &patterns,
                         const mlir::TypeConverter &types);
/// Tiles and vectors between global memory and the threads that hold them.
void populateRegisterTilePatterns(mlir::RewritePatternSet &patterns,
                                  const mlir::TypeConverter &types,
                                  const ParamValues &params);
/// Additions of tiles to sums in memory, and their turns.
void populateSumPatterns(mlir::RewritePatternSet &patterns,
                         const mlir::TypeConverter &types,
                         const ParamValues &params);
/// Products, and waits for them.
void populateMmaPatterns(mlir::RewritePatternSet &patterns,
                         const mlir::TypeConverter &types);
/// Puts, by which tiles are passed to products and copies.
void populateCompletionPatterns(mlir::RewritePatternSet &patterns,
                                RoleSync &sync);

/// Set on a `tile.load_row` with distributed tiles: the vector has one element
/// per column.
constexpr llvm::StringLiteral ofColumnsAttr = "of_columns";
/// Set on a `tile.load` or `tile.store_reg` of a tile whose columns nothing
/// tells apart: a thread has columns that follow each other in memory.
constexpr llvm::StringLiteral anyColumnsAttr = "any_columns";

} // namespace attn::codegen::sm90

#endif // ATTN_CODEGEN_SM90_PATTERNS_H
