// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Score and mask regions as lists of words, for readers without MLIR.
#ifndef ATTN_DIALECT_REGIONPROGRAM_H
#define ATTN_DIALECT_REGIONPROGRAM_H

#include "attn/dialect/Attn.h"

namespace attn {

/// The discardable attribute of a kernel with the result of describeRegions().
constexpr llvm::StringLiteral kRegionProgramsAttr = "attn.region_programs";

/// Discardable attributes of an op, or a kernel, whose mask a pass has
/// replaced: the problem, and the program of the mask region, as the user gave
/// them.
constexpr llvm::StringLiteral kUserProblemAttr = "attn.user_problem";
constexpr llvm::StringLiteral kUserMaskAttr = "attn.user_mask";

/// Returns {score = [...], mask = [...]} for the regions of the op, or null if
/// it has none; the mask is the user's. An op is a list of words: its type, its
/// name and its operands (docs/launch-plan.md). `captureNames` are those of the
/// kernel's arguments.
mlir::DictionaryAttr describeRegions(AttentionOp attention,
                                     llvm::ArrayRef<std::string> captureNames);
/// The program of a score is that of the score alone, without its derivative.
mlir::DictionaryAttr describeRegions(AttentionBwdOp attention,
                                     llvm::ArrayRef<std::string> captureNames);

/// Returns why an attribute is not the program of a mask region; empty if it is
/// one. What an op computes from operands of other types is not told here.
std::string whyNotMaskProgram(mlir::Attribute program);

/// Whether an op of a region allows an instruction that is less accurate than
/// the op itself: `math.tanh` with `afn`. Other flags of an op have no meaning
/// in a region.
bool mayApproximate(mlir::Operation &op);

} // namespace attn

#endif // ATTN_DIALECT_REGIONPROGRAM_H
