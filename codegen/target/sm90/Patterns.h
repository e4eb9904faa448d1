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
/// Exponentials, of which a share goes to the FMA units.
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
/// Products, and waits for them.
void populateMmaPatterns(mlir::RewritePatternSet &patterns,
                         const mlir::TypeConverter &types);
/// Puts, by which tiles are handed to products and copies.
void populateCompletionPatterns(mlir::RewritePatternSet &patterns,
                                RoleSync &sync);

/// On a `tile.load_row` whose tiles are distributed: the vector has an element
/// a column.
constexpr llvm::StringLiteral ofColumnsAttr = "of_columns";

/// Does the tile lie where products of the role read?
bool overwritesOperands(ws::PutOp put);

} // namespace attn::codegen::sm90

#endif // ATTN_CODEGEN_SM90_PATTERNS_H
